//! An owned value.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Raw;
use super::text::Form;

/// A checked JSON value with bytes of its own, for what must outlive the buffer that it came
/// in. Copying the next one into it uses the same allocation.
///
/// ```
/// use mcp_proto::json::{Raw, RawBuf};
///
/// let mut kept = RawBuf::default();
/// assert!(kept.as_raw().is_null());
/// {
///     let message = b"[1, 2]".to_vec();
///     kept.copy_from(Raw::parse(&message, 8)?);
/// }
/// assert_eq!(kept.as_raw().array().unwrap().len(), 2);
/// # Ok::<(), mcp_proto::json::Fault>(())
/// ```
#[derive(Clone)]
pub struct RawBuf {
    /// Empty stands for `null`, so that an empty one allocates nothing.
    bytes: Vec<u8>,
    form: Form,
}

impl RawBuf {
    /// `null`, without an allocation.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            form: Form::Plain,
        }
    }

    /// Replaces what it holds by a copy of `raw`.
    pub fn copy_from(&mut self, raw: Raw<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(raw.as_bytes());
        self.form = raw.form();
    }

    /// The value.
    pub fn as_raw(&self) -> Raw<'_> {
        if self.bytes.is_empty() {
            Raw::NULL
        } else {
            Raw::scanned(&self.bytes, self.form)
        }
    }

    /// The bytes that it can hold without allocating.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

impl Default for RawBuf {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Raw<'_>> for RawBuf {
    fn from(raw: Raw<'_>) -> Self {
        let mut owned = Self::new();
        owned.copy_from(raw);
        owned
    }
}

impl Serialize for RawBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_raw().serialize(serializer)
    }
}

/// Only our own [`Deserializer`](super::Deserializer) can fill it, as it fills a [`Raw`]. It
/// makes a whole answer, or a member of an owned struct, the JSON as it came.
impl<'de> Deserialize<'de> for RawBuf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(Self::from)
    }
}

impl fmt::Debug for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_raw().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn an_owned_value_goes_through_serde_as_it_is() {
        #[derive(Deserialize, Serialize)]
        struct Pair {
            a: RawBuf,
            b: Option<RawBuf>,
        }
        let text = br#"{"a":[1e400,"\ud83d \u0041"],"b":{}}"#;
        let pair: Pair = Raw::parse(text, 8).unwrap().decode(&mut []).unwrap();
        assert_eq!(pair.a.as_raw().as_bytes(), br#"[1e400,"\ud83d \u0041"]"#);
        let mut out = Vec::from([0; 64]);
        let mut writer = super::super::Writer::new(&mut out);
        writer.value(&pair, None).unwrap();
        let len = writer.finish().unwrap();
        assert_eq!(&out[..len], text);
    }
}
