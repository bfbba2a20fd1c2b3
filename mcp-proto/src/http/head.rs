//! The head of a request, independent of the HTTP library.

use core::fmt;

/// A request's head.
///
/// ```
/// use mcp_proto::http::{Field, Head};
///
/// struct Pairs<'h>(&'h [(&'h str, &'h str)]);
///
/// impl Head for Pairs<'_> {
///     fn method(&self) -> &str {
///         "POST"
///     }
///
///     fn path(&self) -> &str {
///         "/mcp"
///     }
///
///     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
///         for (name, value) in self.0 {
///             each(name, value.as_bytes());
///         }
///     }
/// }
///
/// let head = Pairs(&[("Mcp-Method", " ping "), ("Accept", "*/*"), ("accept", "a/b")]);
/// assert_eq!(head.field("mcp-method"), Field::One(b"ping"));
/// assert_eq!(head.field("accept"), Field::Many);
/// assert_eq!(head.field("mcp-name"), Field::None);
/// ```
pub trait Head {
    /// `GET`, `POST` and so on.
    fn method(&self) -> &str;

    /// The path of the target, without the query.
    fn path(&self) -> &str;

    /// Calls `each` with the name and the value of every field line; those of one name in their order. The case of
    /// a name does not matter (SH-39).
    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8]));

    /// Returns true if the request must have a `Host`, as every request of HTTP/1.1 must (RFC 9112,
    /// section 3.2); the default is true. An HTTP library that does not present the authority of a
    /// request of HTTP/2 as its `Host` returns false.
    fn requires_host(&self) -> bool {
        true
    }

    /// Calls `each` with the value of every field line of this name, in their order.
    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        self.fields(&mut |known, value| {
            if known.eq_ignore_ascii_case(name) {
                each(value);
            }
        });
    }

    /// The field of this name, which may come once.
    fn field(&self, name: &str) -> Field<'_> {
        let mut field = Field::None;
        self.values(name, &mut |value| field.add(value));
        field
    }
}

/// A field that has one value. Two of it are never one of them: two readers must not see two
/// requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field<'h> {
    /// It is not there.
    None,
    /// Its value, without the white space around it, which is not part of it (RFC 9110, 5.5).
    One(&'h [u8]),
    /// It is there more than once.
    Many,
}

impl<'h> Field<'h> {
    /// Adds a line.
    pub(super) const fn add(&mut self, value: &'h [u8]) {
        *self = match self {
            Self::None => Self::One(trim(value)),
            Self::One(_) | Self::Many => Self::Many,
        };
    }
}

impl fmt::Debug for Field<'_> {
    /// Without the value: session ids and tokens are not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::One(_) => "One",
            Self::Many => "Many",
        })
    }
}

/// Without optional white space at both ends.
pub(super) const fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// A session id of the characters that it may have, 0x21 to 0x7E (SH-28). `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId<'h>(&'h [u8]);

impl<'h> SessionId<'h> {
    /// The id that these bytes are; `None` if they are empty or have other characters.
    pub fn new(bytes: &'h [u8]) -> Option<Self> {
        // Without an early end, so that many bytes are compared at once.
        let is_sound = |all, byte: &u8| all & (0x21..=0x7E).contains(byte);
        let sound = !bytes.is_empty() && bytes.iter().fold(true, is_sound);
        sound.then_some(Self(bytes))
    }

    /// Returns the id.
    pub const fn as_str(&self) -> &'h str {
        // `new` accepts printable ASCII only.
        match core::str::from_utf8(self.0) {
            Ok(id) => id,
            Err(_) => "",
        }
    }

    /// Returns the bytes of the id.
    pub const fn as_bytes(&self) -> &'h [u8] {
        self.0
    }
}

impl fmt::Debug for SessionId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId")
    }
}
