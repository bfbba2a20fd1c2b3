//! One validated JSON value.

use core::fmt::{self, Write as _};

use super::string::Form;
use super::{Kind, Str, utf8};

/// One well-formed JSON value: its bytes as they came, without whitespace around them.
///
/// It need not be checked again. It is handed on unchanged, looked into with
/// [`object`](Self::object) and its neighbours, or decoded into a type.
///
/// ```
/// use mcp_proto::json::{FaultKind, Kind, Raw};
///
/// let raw = Raw::parse(b" [1, {\"two\": null}] ", 8)?;
/// assert_eq!(raw.kind(), Kind::Array);
/// assert_eq!(raw.as_str(), "[1, {\"two\": null}]");
///
/// assert_eq!(Raw::parse(b"[1,]", 8).unwrap_err().kind, FaultKind::Syntax);
/// assert_eq!(Raw::parse(b"[[]]", 1).unwrap_err().kind, FaultKind::Depth);
/// # Ok::<(), mcp_proto::json::Fault>(())
/// ```
#[derive(Clone, Copy)]
pub struct Raw<'b> {
    bytes: &'b [u8],
    form: Form,
}

impl<'b> Raw<'b> {
    /// `null`.
    pub const NULL: Raw<'static> = Raw::scanned(b"null", Form::Plain);
    /// `true`.
    pub const TRUE: Raw<'static> = Raw::scanned(b"true", Form::Plain);
    /// `false`.
    pub const FALSE: Raw<'static> = Raw::scanned(b"false", Form::Plain);
    /// `{}`.
    pub const EMPTY_OBJECT: Raw<'static> = Raw::scanned(b"{}", Form::Plain);
    /// `[]`.
    pub const EMPTY_ARRAY: Raw<'static> = Raw::scanned(b"[]", Form::Plain);

    /// Bytes that a scanner has accepted, with a form that covers every string in them.
    #[inline]
    pub(super) const fn scanned(bytes: &'b [u8], form: Form) -> Self {
        Self { bytes, form }
    }

    /// Bytes that a scanner has accepted at some time; the form is found anew.
    pub(crate) fn received(bytes: &'b [u8]) -> Self {
        let mut form = Form::Plain;
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            form = Form::Escaped;
            if let Some(
                [
                    b'u',
                    b'd' | b'D',
                    b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F',
                    ..,
                ],
            ) = rest.get(at + 1..)
            {
                // Half a pair or a whole one: the distinction requires a look at the string.
                form = Form::Lone;
                break;
            }
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        Self { bytes, form }
    }

    /// The text.
    #[inline]
    pub const fn as_bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// The text. It is checked for UTF-8 again, so prefer [`as_bytes`](Self::as_bytes) where
    /// bytes will do.
    pub fn as_str(self) -> &'b str {
        utf8::text(self.bytes)
    }

    #[inline]
    pub(super) const fn form(self) -> Form {
        self.form
    }

    /// Returns the kind of the value.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self.bytes.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Returns true if half a surrogate pair may be in one of the value's strings: a decoder that
    /// takes only Unicode text must not get such a value. `false` is certain; for a part of a
    /// larger value, `true` may be due to a neighbour of the part.
    pub const fn has_lone_surrogate(self) -> bool {
        matches!(self.form, Form::Lone)
    }

    /// The value, if it is a string.
    #[cfg_attr(feature = "alloc", inline)]
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    pub fn string(self) -> Option<Str<'b>> {
        let content = self.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(Str::at_most(content, self.form))
    }

    /// The value, if it is `true` or `false`.
    pub fn boolean(self) -> Option<bool> {
        match self.bytes {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns true if the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }
}

/// `null`.
impl Default for Raw<'_> {
    fn default() -> Self {
        Raw::NULL
    }
}

/// Compares the texts: `1` is not `1.0`, and the order of members counts.
impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

/// Writes the JSON as it came.
impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Writes the JSON in one line: control characters are escaped, and of a long value only the
/// beginning and the length are written. It is for debugging: do not write it to logs.
impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.as_str();
        let shown = match text.len() > LONGEST_SHOWN {
            true => text.floor_char_boundary(LONGEST_SHOWN),
            false => text.len(),
        };
        for char in text.get(..shown).unwrap_or_default().chars() {
            match char.is_control() {
                true => write!(f, "{}", char.escape_debug())?,
                false => f.write_char(char)?,
            }
        }
        match shown < text.len() {
            true => write!(f, "\u{2026} ({} bytes)", text.len()),
            false => Ok(()),
        }
    }
}

/// The place of a value in its text: what a [`Raw`] says, without a borrow of the text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: usize,
    len: usize,
    form: Form,
}

#[cfg(feature = "alloc")]
impl Span {
    /// The place of a value in this text; `None` if the value is not a part of it.
    pub(crate) fn of(raw: Raw<'_>, text: &[u8]) -> Option<Self> {
        let value = raw.as_bytes();
        let start = offset(value, text)?;
        let form = raw.form();
        let end = start.checked_add(value.len())?;
        (!value.is_empty() && end <= text.len()).then_some(Self {
            start,
            len: value.len(),
            form,
        })
    }

    /// The value in the text that [`of`](Self::of) was given; null in a text that is too short.
    pub(crate) fn raw(self, text: &[u8]) -> Raw<'_> {
        let bytes = text.get(self.start..).and_then(|rest| rest.get(..self.len));
        bytes.map_or(Raw::NULL, |bytes| Raw::scanned(bytes, self.form))
    }
}

/// The number of bytes before `part` in `whole`, of which it is a part; `None` if it begins before `whole`.
pub(crate) fn offset(part: &[u8], whole: &[u8]) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)
}

/// The number of bytes of a value that `Debug` shows at most.
const LONGEST_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::{String, ToString as _};

    use super::*;
    use crate::json::Object;

    #[test]
    fn debug_shows_the_json() {
        let check = |json: &str, shown: &str| {
            let raw = Raw::parse(json.as_bytes(), 8).unwrap();
            assert_eq!(format!("{raw:?}"), shown);
            #[cfg(feature = "alloc")]
            assert_eq!(format!("{:?}", crate::json::RawBuf::from(raw)), shown);
            assert_eq!(raw.to_string(), json.trim());
        };
        check("null", "null");
        check(r#" "a \n b" "#, r#""a \n b""#);
        check("{\"a\":\n\t[1]}", r#"{"a":\n\t[1]}"#);
        check("\"\u{9b}31m \u{7f}\"", r#""\u{9b}31m \u{7f}""#);
        let object = Object::EMPTY;
        assert_eq!(format!("{:?}", Some(object)), "Some({})");

        let quoted = |length: usize| String::from("\"") + &"x".repeat(length - 2) + "\"";
        check(&quoted(200), &quoted(200));
        let long = quoted(201);
        check(&long, &format!("{}… (201 bytes)", &long[..200]));
        // A character is never cut in two: of those of two bytes the last would be.
        let wide = format!("\"{}\"", "é".repeat(100));
        check(&wide, &format!("{}… (202 bytes)", &wide[..199]));
    }
}
