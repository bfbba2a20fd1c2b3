//! Request ids and progress tokens in storage of fixed size.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::json::{Number, Str};
use crate::rpc::Id;

/// Stores a request id or progress token of the peer unchanged, in at most `N` bytes. A longer one is
/// refused, never cut.
#[derive(Clone)]
pub(crate) struct IdBuf<const N: usize> {
    kind: Kind,
    len: u16,
    bytes: [u8; N],
}

/// Stores a short id in place, and one of up to `N` bytes in memory of its own: tables are small, and
/// entries are moved whole.
///
/// The protocol sets no bound for ids; ids in the manner of traces pass 64 bytes, so a machine with
/// memory keeps 256.
#[cfg(feature = "alloc")]
#[derive(Clone)]
pub(crate) enum IdBox<const N: usize> {
    Short(IdBuf<SHORT>),
    Long(Kind, alloc::boxed::Box<[u8]>),
}

/// A value that is stored in the entry itself.
#[derive(Clone, Debug)]
pub(crate) struct Inline<T>(T);

/// The longest id that is stored in place; a UUID has 36 bytes.
#[cfg(feature = "alloc")]
const SHORT: usize = 37;

/// The storage of an id, as tables of requests have it.
pub(crate) trait IdStorage: Clone + fmt::Debug {
    /// The storage of a value that few entries have: a box where there is an allocator.
    type Boxed<T: Clone + fmt::Debug>: Clone + fmt::Debug + From<T> + DerefMut<Target = T>;

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
    type Boxed<T: Clone + fmt::Debug> = Inline<T>;

    const CAPACITY: usize = if N < u16::MAX as usize {
        N
    } else {
        u16::MAX as usize
    };

    fn new(id: Id<'_>) -> Option<Self> {
        let (kind, text) = Kind::of(id);
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
        self.kind.id(text)
    }
}

#[cfg(feature = "alloc")]
impl<const N: usize> IdStorage for IdBox<N> {
    type Boxed<T: Clone + fmt::Debug> = alloc::boxed::Box<T>;

    const CAPACITY: usize = N;

    fn new(id: Id<'_>) -> Option<Self> {
        match id_len(id) {
            ..=SHORT => IdBuf::new(id).map(Self::Short),
            len if len <= N => {
                let (kind, text) = Kind::of(id);
                Some(Self::Long(kind, text.into()))
            }
            _ => None,
        }
    }

    fn id(&self) -> Id<'_> {
        match self {
            Self::Short(id) => id.id(),
            Self::Long(kind, text) => kind.id(text),
        }
    }
}

impl<T> From<T> for Inline<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Inline<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Inline<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<const N: usize> fmt::Debug for IdBuf<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

#[cfg(feature = "alloc")]
impl<const N: usize> fmt::Debug for IdBox<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

/// The form of an id.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Number,
    /// Still escaped, as it stood between its quotes.
    Received,
    /// Plain text that did not come from a message.
    Ours,
}

// In place: firmware, which is optimized for size, would call these for each look at an id.
impl Kind {
    #[inline(always)]
    fn of(id: Id<'_>) -> (Self, &[u8]) {
        match id {
            Id::Number(number) => (Self::Number, number.as_bytes()),
            Id::String(text) if text.is_ours() => (Self::Ours, text.content()),
            Id::String(text) => (Self::Received, text.content()),
        }
    }

    /// The id of this form with these bytes.
    #[inline(always)]
    fn id(self, text: &[u8]) -> Id<'_> {
        match self {
            Self::Number => Id::Number(Number::received(text)),
            Self::Received => Id::String(Str::received(text)),
            Self::Ours => Id::from(core::str::from_utf8(text).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let id = Id::parse(text.as_bytes()).unwrap();
        check_stored(id, &IdBuf::<60>::new(id).unwrap());
        #[cfg(feature = "alloc")]
        check_stored(id, &IdBox::<60>::new(id).unwrap());
    }

    #[track_caller]
    fn check_stored(id: Id<'_>, stored: &impl IdStorage) {
        assert_eq!(format!("{}", stored.id()), format!("{id}"));
        assert_eq!(format!("{stored:?}"), format!("{id:?}"));
        assert!(stored.matches(id));
        assert_eq!(stored.id().hash32(), id.hash32());
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
        for len in [36, 37, 38, 60] {
            check(&"7".repeat(len));
            check(&format!("\"{}\"", "x".repeat(len)));
            check(&format!(r#""{}\n""#, "x".repeat(len - 2)));
        }
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
        #[cfg(feature = "alloc")]
        for (len, is_kept) in [(37, true), (38, true), (60, true), (61, false)] {
            let text = "1".repeat(len);
            assert_eq!(IdBox::<60>::new(Id::from(&*text)).is_some(), is_kept);
        }
    }
}
