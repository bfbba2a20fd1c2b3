//! JSON to read, and JSON put together.

use mcp_tokio::json::{EncodeError, Kind, Raw, RawBuf};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The value over several lines, indented by two; short lists of plain values on one.
pub(crate) fn pretty(value: Raw<'_>) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text
}

/// Returns the value without white space between its tokens and with the members of its objects in the
/// order of their names: two values are the same if these texts are.
pub(crate) fn canonical(value: Raw<'_>) -> String {
    let mut text = String::new();
    write_canonical(&mut text, value);
    text
}

/// The members of an object in the order in which they were put in.
#[derive(Debug, Default)]
pub(crate) struct Members(Vec<(String, RawBuf)>);

impl Members {
    /// Adds a member.
    pub(crate) fn put(&mut self, name: &str, value: RawBuf) {
        self.0.push((name.to_owned(), value));
    }

    pub(crate) fn get(&self, name: &str) -> Option<Raw<'_>> {
        let found = self.0.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value.as_raw())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The object.
    pub(crate) fn object(&self) -> Result<RawBuf, EncodeError> {
        RawBuf::encode(self)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A text as JSON, in quotes.
pub(crate) fn quoted(text: &str) -> RawBuf {
    // Text always is JSON.
    RawBuf::encode(text).unwrap_or_default()
}

/// Returns a value as a person reads it: a text without quotes, another value as it is.
pub(crate) fn words(value: Raw<'_>) -> String {
    match value.string() {
        Some(text) => text.to_cow().into_owned(),
        None => value.as_str().to_owned(),
    }
}

fn write(text: &mut String, value: Raw<'_>, indent: usize) {
    let mut between = "";
    if let Some(object) = value.object().filter(|object| !object.is_empty()) {
        text.push('{');
        for (name, value) in object.members() {
            text.push_str(between);
            line(text, indent + 1);
            text.push_str(RawBuf::encode(&name).unwrap_or_default().as_raw().as_str());
            text.push_str(": ");
            write(text, value, indent + 1);
            between = ",";
        }
        line(text, indent);
        text.push('}');
    } else if let Some(array) = value.array().filter(|array| !array.is_empty()) {
        let mut elements = array.elements();
        let flat = elements.all(|element| !matches!(element.kind(), Kind::Array | Kind::Object));
        let flat = flat && value.as_str().len() <= LINE;
        text.push('[');
        for element in array.elements() {
            text.push_str(between);
            match (flat, between) {
                (true, "") => {}
                (true, _) => text.push(' '),
                (false, _) => line(text, indent + 1),
            }
            write(text, element, indent + 1);
            between = ",";
        }
        if !flat {
            line(text, indent);
        }
        text.push(']');
    } else {
        text.push_str(match value.kind() {
            Kind::Object => "{}",
            Kind::Array => "[]",
            _ => value.as_str(),
        });
    }
}

fn write_canonical(text: &mut String, value: Raw<'_>) {
    if let Some(object) = value.object() {
        let members = object.members();
        let mut members: Vec<_> = members.map(|(name, it)| (name.to_cow(), it)).collect();
        members.sort_by(|one, other| one.0.cmp(&other.0));
        text.push('{');
        for (name, value) in members {
            text.push_str(quoted(&name).as_raw().as_str());
            text.push(':');
            write_canonical(text, value);
            text.push(',');
        }
        text.push('}');
    } else if let Some(array) = value.array() {
        text.push('[');
        for element in array.elements() {
            write_canonical(text, element);
            text.push(',');
        }
        text.push(']');
    } else {
        text.push_str(value.as_str());
    }
}

fn line(text: &mut String, indent: usize) {
    text.push('\n');
    (0..indent).for_each(|_| text.push_str("  "));
}

/// The longest list that stays on one line, in bytes.
const LINE: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_text() {
        let check = |json: &str, expected: &str| {
            let value = RawBuf::parse(json).unwrap();
            assert_eq!(pretty(value.as_raw()), expected, "{json}");
        };
        check(" 1e400 ", "1e400");
        check(r#""\u00e9\ud83d""#, r#""\u00e9\ud83d""#);
        check("{ }", "{}");
        check("[\n]", "[]");
        check("[1,\"a\" , null]", "[1, \"a\", null]");
        check("[[],{}]", "[\n  [],\n  {}\n]");
        check(
            r#"{"a":{"b":[{"c":true}]},"d\"":0}"#,
            "{\n  \"a\": {\n    \"b\": [\n      {\n        \"c\": true\n      }\n    ]\n  },\n  \"d\\\"\": 0\n}",
        );
        let long = format!("[\"{}\"]", "x".repeat(LINE));
        check(&long, &format!("[\n  \"{}\"\n]", "x".repeat(LINE)));
    }

    #[test]
    fn members_keep_their_order() {
        let mut members = Members::default();
        members.put("b", quoted("x\n"));
        members.put("a", RawBuf::parse("[1]").unwrap());
        assert_eq!(
            members.object().unwrap().as_raw().as_str(),
            r#"{"b":"x\n","a":[1]}"#
        );
        assert_eq!(members.get("a").map(Raw::as_str), Some("[1]"));
        assert_eq!(members.names().collect::<Vec<_>>(), ["b", "a"]);
    }
}
