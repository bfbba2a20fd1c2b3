//! Lists without an allocator.

use core::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::serde_impls::Passed;
use super::{Array, DecodeError, Writer};

/// A list of a peer, decoded while it is walked over; or a slice of our own, to be written.
///
/// ```
/// use mcp_proto::json::{List, Raw};
///
/// let raw = Raw::parse(b"[1, 2, \"three\"]", 8)?;
/// let list: List<u8> = raw.decode(&mut [])?;
/// let mut items = list.iter();
/// assert_eq!(items.next(), Some(Ok(1)));
/// assert_eq!(items.next(), Some(Ok(2)));
/// assert!(items.next().unwrap().is_err());
/// assert_eq!(items.next(), None);
///
/// assert_eq!(List::from(&[4, 5]).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct List<'b, T>(Items<'b, T>);

enum Items<'b, T> {
    Theirs(Array<'b>),
    Ours(&'b [T]),
}

impl<'b, T> List<'b, T> {
    /// The list without items.
    pub const EMPTY: Self = Self(Items::Ours(&[]));

    /// A list of our own.
    pub const fn new(items: &'b [T]) -> Self {
        Self(Items::Ours(items))
    }

    /// The items. An element of a peer that is not a `T` yields an error, and the iteration
    /// continues after it.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, DecodeError>> + use<'b, T>
    where
        T: Deserialize<'b> + Clone,
    {
        let (theirs, ours) = match self.0 {
            Items::Theirs(array) => (array, &[][..]),
            Items::Ours(items) => (Array::EMPTY, items),
        };
        let theirs = theirs.elements().map(|element| element.decode(&mut []));
        theirs.chain(ours.iter().cloned().map(Ok))
    }

    /// The number of items; a peer's are counted by walking over them.
    pub fn len(&self) -> usize {
        match self.0 {
            Items::Theirs(array) => array.len(),
            Items::Ours(items) => items.len(),
        }
    }

    /// Returns true if the list has no item.
    pub fn is_empty(&self) -> bool {
        match self.0 {
            Items::Theirs(array) => array.is_empty(),
            Items::Ours(items) => items.is_empty(),
        }
    }

    /// Writes it without serde: a peer's items as they came, ours by `item`.
    pub(crate) fn write(&self, w: &mut Writer<'_>, item: impl Fn(&T, &mut Writer<'_>)) {
        w.literal("[");
        let mut separator = "";
        let mut between = |w: &mut Writer<'_>| {
            w.literal(separator);
            separator = ",";
        };
        match self.0 {
            Items::Theirs(array) => array.elements().for_each(|element| {
                between(w);
                w.raw(element);
            }),
            Items::Ours(items) => items.iter().for_each(|own| {
                between(w);
                item(own, w);
            }),
        }
        w.literal("]");
    }

    /// The JSON array, if the list is a peer's.
    pub const fn as_array(&self) -> Option<Array<'b>> {
        match self.0 {
            Items::Theirs(array) => Some(array),
            Items::Ours(_) => None,
        }
    }
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} items)", self.len())
    }
}

impl<'b, T> From<&'b [T]> for List<'b, T> {
    fn from(items: &'b [T]) -> Self {
        Self::new(items)
    }
}

impl<'b, T, const N: usize> From<&'b [T; N]> for List<'b, T> {
    fn from(items: &'b [T; N]) -> Self {
        Self::new(items)
    }
}

impl<'b, T> From<Array<'b>> for List<'b, T> {
    fn from(array: Array<'b>) -> Self {
        Self(Items::Theirs(array))
    }
}

impl<'de: 'b, 'b, T> Deserialize<'de> for List<'b, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Array::deserialize(deserializer).map(Self::from)
    }
}

/// The items of a peer are written like our own, as the types that they are: for another
/// revision they may have to change. One that is no `T` is passed on as it came.
///
/// Without the feature `alloc` that is an error, so that a program which writes lists of its own does not link the code that reads
/// them: write [`as_array`](Self::as_array), the list as it came.
impl<'b, T: Serialize + Deserialize<'b>> Serialize for List<'b, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Items::Theirs(array) => serializer.collect_seq(array.elements().map(Passed::<T>::new)),
            Items::Ours(items) => serializer.collect_seq(items),
        }
    }
}
