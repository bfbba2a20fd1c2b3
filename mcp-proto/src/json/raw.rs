//! One validated JSON value.

use core::fmt;

use super::form::Form;
use super::{Kind, Str, escape};

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
        escape::text(self.bytes)
    }

    #[inline]
    pub(super) const fn form(self) -> Form {
        self.form
    }

    /// What the value is.
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

    /// Whether half a surrogate pair may be in one of its strings: a decoder that takes only
    /// Unicode text has to be kept from it. `false` is certain; a part of a larger value may
    /// say `true` because of its neighbour.
    pub const fn has_lone_surrogate(self) -> bool {
        matches!(self.form, Form::Lone)
    }

    /// The value, if it is a string.
    #[inline]
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

    /// Whether it is `null`.
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

/// What is compared is the text: `1` is not `1.0`, and the order of members counts.
impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

/// Kind and length only: what peers send does not belong into logs.
/// Writes the JSON as it came. `Debug` shows none of it.
impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({:?}, {} bytes)", self.kind(), self.bytes.len())
    }
}
