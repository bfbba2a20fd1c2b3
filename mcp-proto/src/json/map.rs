//! Maps without an allocator.

use core::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::serde_impls::Passed;
use super::{DecodeError, Object, Raw, Str, Writer};

/// An object of a peer with names of its own choice, decoded while it is walked over; or a
/// slice of pairs of our own, to be written.
pub struct Map<'b, V>(Pairs<'b, V>);

enum Pairs<'b, V> {
    Theirs(Object<'b>),
    Ours(&'b [(&'b str, V)]),
}

impl<'b, V> Map<'b, V> {
    /// The map without entries.
    pub const EMPTY: Self = Self(Pairs::Ours(&[]));

    /// A map of our own. The caller sees to it that no name stands twice.
    pub const fn new(pairs: &'b [(&'b str, V)]) -> Self {
        Self(Pairs::Ours(pairs))
    }

    /// The entries. A value of a peer that is not a `V` yields an error, and the iteration
    /// continues after it.
    pub fn iter(&self) -> impl Iterator<Item = (Str<'b>, Result<V, DecodeError>)> + use<'b, V>
    where
        V: Deserialize<'b> + Clone,
    {
        let (theirs, ours) = match self.0 {
            Pairs::Theirs(object) => (object, &[][..]),
            Pairs::Ours(pairs) => (Object::EMPTY, pairs),
        };
        let theirs = theirs.members();
        let theirs = theirs.map(|(name, value)| (name, value.decode(&mut [])));
        let ours = ours.iter().cloned();
        theirs.chain(ours.map(|(name, value)| (Str::new(name), Ok(value))))
    }

    /// The value of the first entry with this name.
    pub fn get(&self, name: &str) -> Option<Result<V, DecodeError>>
    where
        V: Deserialize<'b> + Clone,
    {
        match self.0 {
            Pairs::Theirs(object) => Some(object.get(name)?.decode(&mut [])),
            Pairs::Ours(pairs) => {
                let (_, value) = pairs.iter().find(|(other, _)| *other == name)?;
                Some(Ok(value.clone()))
            }
        }
    }

    /// The number of entries; a peer's are counted by walking over them.
    pub fn len(&self) -> usize {
        match self.0 {
            Pairs::Theirs(object) => object.members().count(),
            Pairs::Ours(pairs) => pairs.len(),
        }
    }

    /// Returns true if the map has no entry.
    pub fn is_empty(&self) -> bool {
        match self.0 {
            Pairs::Theirs(object) => object.is_empty(),
            Pairs::Ours(pairs) => pairs.is_empty(),
        }
    }

    /// The JSON object, if the map is a peer's.
    pub const fn as_object(&self) -> Option<Object<'b>> {
        match self.0 {
            Pairs::Theirs(object) => Some(object),
            Pairs::Ours(_) => None,
        }
    }
}

impl Map<'_, Raw<'_>> {
    /// Writes it without serde.
    pub(crate) fn write(&self, w: &mut Writer<'_>) {
        self.write_where(&|_| true, w);
    }

    /// Writes the entries whose names pass, without serde.
    pub(crate) fn write_where(&self, passes: &dyn Fn(Str<'_>) -> bool, w: &mut Writer<'_>) {
        w.literal("{");
        let mut separator = "";
        let mut entry = |name: Str<'_>, value: Raw<'_>| {
            if !passes(name) {
                return;
            }
            w.literal(separator);
            separator = ",";
            w.text(name);
            w.literal(":");
            w.raw(value);
        };
        match self.0 {
            Pairs::Theirs(object) => object
                .members()
                .for_each(|(name, value)| entry(name, value)),
            Pairs::Ours(pairs) => pairs
                .iter()
                .for_each(|(name, value)| entry(Str::new(name), *value)),
        }
        w.literal("}");
    }
}

impl<V> Clone for Map<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Map<'_, V> {}

impl<V> Clone for Pairs<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Pairs<'_, V> {}

impl<V> Default for Map<'_, V> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<V> fmt::Debug for Map<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({} entries)", self.len())
    }
}

impl<'b, V> From<&'b [(&'b str, V)]> for Map<'b, V> {
    fn from(pairs: &'b [(&'b str, V)]) -> Self {
        Self::new(pairs)
    }
}

impl<'b, V, const N: usize> From<&'b [(&'b str, V); N]> for Map<'b, V> {
    fn from(pairs: &'b [(&'b str, V); N]) -> Self {
        Self::new(pairs)
    }
}

impl<'b, V> From<Object<'b>> for Map<'b, V> {
    fn from(object: Object<'b>) -> Self {
        Self(Pairs::Theirs(object))
    }
}

impl<'de: 'b, 'b, V> Deserialize<'de> for Map<'b, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(Self::from)
    }
}

/// The values of a peer are written like our own, which needs the feature `alloc`: see [`List`](super::List).
impl<'b, V: Serialize + Deserialize<'b>> Serialize for Map<'b, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Pairs::Theirs(object) => serializer.collect_map(
                object
                    .members()
                    .map(|(name, value)| (name, Passed::<V>::new(value))),
            ),
            Pairs::Ours(pairs) => serializer.collect_map(pairs.iter().map(|(k, v)| (k, v))),
        }
    }
}
