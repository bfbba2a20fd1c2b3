//! The member `_meta`.

use core::fmt;

use mcp_proto::json::{EncodeError, Raw, RawBuf};
use mcp_proto::model::rules::Absent;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whatever else a message carries, by keys that may have a prefix, in the order in which they
/// came. The protocol reserves some ([`keys`](mcp_proto::model::keys)).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Meta(Vec<(String, RawBuf)>);

impl Meta {
    /// Nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns true if there are no keys; the member `_meta` is not written then.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key; of one that stands twice, the first.
    pub fn get(&self, key: &str) -> Option<Raw<'_>> {
        self.iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// [`EncodeError`], if the value does not serialize to JSON; nothing has changed then.
    pub fn insert<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), EncodeError> {
        let (key, value) = (key.into(), RawBuf::encode(value)?);
        self.remove(&key);
        self.0.push((key, value));
        Ok(())
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Raw<'_>)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_raw()))
    }
}

impl Absent for Meta {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs)
    }
}

/// The keys: values are the peer's own business.
impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|(key, _)| key))
            .finish()
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Meta;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Meta(pairs))
    }
}
