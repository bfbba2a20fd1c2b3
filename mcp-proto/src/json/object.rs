//! JSON objects.

use core::fmt;

use super::members::{Duplicate, Members, collect};
use super::string::Form;
use super::{Kind, Raw, Str};

/// The members of a JSON object, in the order of the text.
///
/// Nothing is indexed: [`find`](Self::find) looks for several keys in one pass.
///
/// ```
/// use mcp_proto::json::Raw;
///
/// let raw = Raw::parse(br#"{"name":"echo","arguments":{},"n\u0061me2":1}"#, 8)?;
/// let object = raw.object().unwrap();
/// let [name, arguments, cursor] = object.find(["name", "arguments", "cursor"])?;
/// assert_eq!(name.and_then(Raw::string).unwrap(), "echo");
/// assert_eq!(arguments.unwrap().as_str(), "{}");
/// assert!(cursor.is_none());
/// assert_eq!(object.get("name2").unwrap().as_str(), "1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Object<'b> {
    bytes: &'b [u8],
    form: Form,
}

impl<'b> Object<'b> {
    /// The object without members.
    pub const EMPTY: Object<'static> = Object {
        bytes: b"{}",
        form: Form::Plain,
    };

    pub(super) const fn scanned(bytes: &'b [u8], form: Form) -> Self {
        Self { bytes, form }
    }

    /// The whole object as a value.
    pub const fn as_raw(self) -> Raw<'b> {
        Raw::scanned(self.bytes, self.form)
    }

    /// The members. A duplicate key is yielded twice.
    pub fn members(self) -> impl Iterator<Item = (Str<'b>, Raw<'b>)> + Clone {
        Members::from(self)
    }

    /// Returns true if the object has no member.
    pub fn is_empty(self) -> bool {
        self.members().next().is_none()
    }

    /// The value of the first member with this key.
    ///
    /// For what a reader of the protocol decides by, use [`find`](Self::find), which refuses
    /// duplicate keys.
    pub fn get(self, key: &str) -> Option<Raw<'b>> {
        let mut members = self.members();
        members
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The values of several keys, each `None` if it is absent, in one pass. Keys are compared
    /// unescaped and case-sensitively.
    ///
    /// # Errors
    ///
    /// [`Duplicate`] if one of the keys comes twice: two readers of one message must never see
    /// two messages. Members that were not asked for may repeat.
    pub fn find<const N: usize>(self, keys: [&str; N]) -> Result<[Option<Raw<'b>>; N], Duplicate> {
        let mut found = [None; N];
        collect(self.into(), &keys, false, &mut found)?;
        Ok(found)
    }
}

impl<'b> Raw<'b> {
    /// The value, if it is an object.
    #[inline]
    pub fn object(self) -> Option<Object<'b>> {
        (self.kind() == Kind::Object).then(|| Object::scanned(self.as_bytes(), self.form()))
    }
}

/// The empty one.
impl Default for Object<'_> {
    fn default() -> Self {
        Object::EMPTY
    }
}

impl<'b> From<Object<'b>> for Raw<'b> {
    fn from(value: Object<'b>) -> Self {
        value.as_raw()
    }
}

/// Those of an object whose members were not noted.
impl<'b> From<Object<'b>> for Members<'static, 'b> {
    fn from(object: Object<'b>) -> Self {
        Self::new(object.as_raw(), None)
    }
}

/// Two texts of one object may differ and mean the same: what is compared is the text.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_raw(), f)
    }
}

impl<'b> TryFrom<Raw<'b>> for Object<'b> {
    type Error = Kind;

    /// The object, or the kind that the value is instead.
    fn try_from(raw: Raw<'b>) -> Result<Self, Kind> {
        raw.object().ok_or(raw.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> Object<'_> {
        Raw::parse(json.as_bytes(), 8).unwrap().object().unwrap()
    }

    #[test]
    fn several_keys_in_one_pass() {
        let check = |json: &str, expected: Result<[Option<&str>; 3], usize>| {
            let found = object(json).find(["name", "uri", "é"]);
            let texts = found.map(|values| values.map(|value| value.map(Raw::as_str)));
            assert_eq!(texts, expected.map_err(|key| Duplicate { key }), "{json}");
        };
        check("{}", Ok([None, None, None]));
        check(r#"{"name":1}"#, Ok([Some("1"), None, None]));
        check(r#"{ "uri" : [ "}" , "\"" ] , "name" : {"uri":2} }"#, {
            Ok([Some(r#"{"uri":2}"#), Some(r#"[ "}" , "\"" ]"#), None])
        });
        check(r#"{"n\u0061me":"x","\u00e9":-1.5e+3}"#, {
            Ok([Some(r#""x""#), None, Some("-1.5e+3")])
        });
        check(
            r#"{"Name":1,"NAME":2,"nam":3,"names":4}"#,
            Ok([None, None, None]),
        );
        check(r#"{"name":1,"name":1}"#, Err(0));
        check(r#"{"uri":1,"x":2,"\u0075ri":3}"#, Err(1));
        check(r#"{"x":1,"x":2,"é":true}"#, Ok([None, None, Some("true")]));
        check(
            r#"{"na\ud83dme":1,"name":false}"#,
            Ok([Some("false"), None, None]),
        );
    }

    #[test]
    fn keys_are_names_and_not_text() {
        let object = object(r#"{"a":1,"b":2,"c\\":3}"#);
        for key in [r#"a":1,"b"#, r#"c\\"#, r#"c\\":3}"#] {
            assert_eq!(object.find([key]), Ok([None]), "{key}");
            assert_eq!(object.get(key), None, "{key}");
        }
        assert!(object.get("c\\").is_some());
    }

    #[test]
    fn members() {
        let check = |json: &str, expected: &[(&str, &str)]| {
            let members = object(json).members();
            assert!(
                members
                    .clone()
                    .map(|(_, raw)| raw.as_str())
                    .eq(expected.iter().map(|e| e.1))
            );
            assert!(
                members
                    .map(|(key, _)| key)
                    .eq(expected.iter().map(|e| Str::new(e.0)))
            );
            assert_eq!(object(json).is_empty(), expected.is_empty());
        };
        check("{ }", &[]);
        check(r#"{"a":"\\","b":"\\\"","c":[[],{}],"d":null}"#, {
            &[
                ("a", r#""\\""#),
                ("b", r#""\\\"""#),
                ("c", "[[],{}]"),
                ("d", "null"),
            ]
        });
        check(
            "{\"\"\n:\t0.5E-1\r,\" \": true}",
            &[("", "0.5E-1"), (" ", "true")],
        );
    }
}
