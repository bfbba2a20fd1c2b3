//! Request ids and progress tokens in storage of fixed size.

use core::fmt;

use crate::json::{Number, Str};
use crate::rpc::Id;

/// Stores a request id or progress token of the peer unchanged, in at most `N` bytes.
///
/// The protocol sets no bound for ids; ids in the manner of traces pass 64 bytes, so a machine with
/// memory keeps 256. A longer id is refused, never cut.
#[derive(Clone)]
pub(crate) struct IdBuf<const N: usize> {
    kind: Kind,
    len: u16,
    bytes: [u8; N],
}

/// An [`IdBuf`] of any capacity, as tables of requests store it.
pub(crate) trait IdStorage: Clone + fmt::Debug {
    /// The longest id in bytes, as it stands in the message, without quotes.
    const CAPACITY: usize;

    /// Keeps a copy of `id`; `None` if it is longer than [`CAPACITY`](Self::CAPACITY).
    fn new(id: Id<'_>) -> Option<Self>;

    /// The id.
    fn id(&self) -> Id<'_>;

    /// Returns true if `id` is the stored id: of the same JSON type and value (JR-07, CN-13).
    fn matches(&self, id: Id<'_>) -> bool {
        self.id() == id
    }
}

/// Returns the length of an id as it stands in the message, without quotes.
pub(crate) fn id_len(id: Id<'_>) -> usize {
    match id {
        Id::Number(number) => number.as_bytes().len(),
        Id::String(text) => text.content().len(),
    }
}

/// Returns the length of the longest id that an error repeats, in a table whose ids have this
/// capacity.
pub(crate) const fn echo(capacity: usize) -> usize {
    if capacity < SHORT_ECHO {
        SHORT_ECHO
    } else {
        capacity
    }
}

const SHORT_ECHO: usize = 128;
/// The length of the longest id that an error repeats in a table that grows.
#[cfg(feature = "alloc")]
pub(crate) const LONG_ECHO: usize = 1024;

impl<const N: usize> IdStorage for IdBuf<N> {
    const CAPACITY: usize = if N < u16::MAX as usize {
        N
    } else {
        u16::MAX as usize
    };

    fn new(id: Id<'_>) -> Option<Self> {
        let (kind, text) = match id {
            Id::Number(number) => (Kind::Number, number.as_bytes()),
            Id::String(text) if text.is_ours() => (Kind::Ours, text.content()),
            Id::String(text) => (Kind::Received, text.content()),
        };
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self {
            kind,
            len: u16::try_from(text.len()).ok()?,
            bytes,
        })
    }

    fn id(&self) -> Id<'_> {
        let text = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        match self.kind {
            Kind::Number => Id::Number(Number::received(text)),
            Kind::Received => Id::String(Str::received(text)),
            Kind::Ours => Id::from(core::str::from_utf8(text).unwrap_or_default()),
        }
    }
}

impl<const N: usize> fmt::Debug for IdBuf<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Number,
    /// Still escaped, as it stood between its quotes.
    Received,
    /// Plain text that did not come from a message.
    Ours,
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let id = Id::parse(text.as_bytes()).unwrap();
        let buf = IdBuf::<24>::new(id).unwrap();
        assert_eq!(format!("{}", buf.id()), format!("{id}"));
        assert!(buf.matches(id));
        assert_eq!(buf.id().hash32(), id.hash32());
    }

    #[test]
    fn an_id_comes_back_as_it_was() {
        check("1");
        check("-0");
        check("9007199254740993");
        check(r#""""#);
        check(r#""1""#);
        check(r#""a\"b\u0031""#);
        check(r#""\ud83d""#);
        check("\"caf\u{e9}\"");
    }

    #[test]
    fn type_and_value_decide() {
        let buf = IdBuf::<8>::new(Id::from("1")).unwrap();
        assert!(buf.matches(Id::parse(br#""\u0031""#).unwrap()));
        assert!(!buf.matches(Id::parse(b"1").unwrap()));
    }

    #[test]
    fn the_capacity_is_a_bound_and_no_cut() {
        assert!(IdBuf::<8>::new(Id::from("12345678")).is_some());
        assert!(IdBuf::<8>::new(Id::from("123456789")).is_none());
    }
}
