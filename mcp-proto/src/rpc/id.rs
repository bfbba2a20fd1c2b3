//! Request ids, exactly as received.

use core::fmt;

use crate::json::{Number, Raw, Str, Writer};

/// The id of a request: a string or an integer of any length (JR-03, JR-53).
///
/// It is never converted: `9007199254740993` stays what it is, and `1` and `"1"` are two ids.
/// Two ids are equal if type and value are; how a string was escaped does not matter (JR-07).
#[derive(Clone, Copy)]
pub enum Id<'b> {
    /// An integer, as its text.
    Number(Number<'b>),
    /// A string, escaped as it was received.
    String(Str<'b>),
}

impl<'b> Id<'b> {
    /// Reads an id from JSON text; `None` if the text is not an id, as
    /// [`from_raw`](Self::from_raw) has it.
    pub fn parse(text: &'b [u8]) -> Option<Self> {
        Raw::parse(text, 0).ok().and_then(Self::from_raw)
    }

    /// The id that this value is; `None` for null, booleans, containers and numbers with a
    /// fraction or an exponent, even `1.0` (JR-36).
    #[cfg_attr(feature = "alloc", inline)]
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    pub fn from_raw(raw: Raw<'b>) -> Option<Self> {
        match raw.as_bytes() {
            [b'"', ..] => raw.string().map(Self::String),
            integer @ [b'-' | b'0'..=b'9', digits @ ..]
                if digits.iter().all(u8::is_ascii_digit) =>
            {
                Some(Self::Number(Number::received(integer)))
            }
            _ => None,
        }
    }

    /// The integer, if the id is one and fits: all ids that this crate gives out do.
    pub fn to_u64(self) -> Option<u64> {
        match self {
            Self::Number(number) => number.to_u64(),
            Self::String(_) => None,
        }
    }

    /// A hash of type and value: equal ids have equal hashes, however they were escaped.
    pub(crate) fn hash32(self) -> u32 {
        match self {
            // FNV-1a
            Self::Number(number) => integer(number)
                .iter()
                .fold(0x811c_9dc5, |hash: u32, &byte| {
                    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
                }),
            Self::String(text) => !text.hash32(),
        }
    }

    /// Writes the id as it was received.
    pub(crate) fn write(self, w: &mut Writer<'_>) {
        match self {
            Self::Number(number) => w.bytes(number.as_bytes()),
            Self::String(text) => w.text_exact(text),
        }
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => integer(*a) == integer(*b),
            (Self::String(a), Self::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Id<'_> {}

impl<'b> From<Str<'b>> for Id<'b> {
    fn from(text: Str<'b>) -> Self {
        Self::String(text)
    }
}

impl<'b> From<&'b str> for Id<'b> {
    fn from(text: &'b str) -> Self {
        Self::String(Str::from(text))
    }
}

/// As JSON.
impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(number.as_str()),
            Self::String(text) => fmt::Debug::fmt(text, f),
        }
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The digits that decide equality. JSON has one text for each integer, but for zero.
fn integer(number: Number<'_>) -> &[u8] {
    match number.as_bytes() {
        b"-0" => b"0",
        digits => digits,
    }
}
