//! An owned value.

#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(target_has_atomic = "ptr")]
use super::raw::Span;
use super::string::Form;
use super::{DecodeError, EncodeError, Fault, MAX_DEPTH, Object, Raw, Writer};

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
    bytes: Bytes,
    form: Form,
}

#[derive(Clone)]
enum Bytes {
    /// Empty stands for `null`, so that an empty one allocates nothing.
    Own(Vec<u8>),
    /// A part of a message that others may keep parts of, too.
    #[cfg(target_has_atomic = "ptr")]
    Shared(Arc<Vec<u8>>, Span),
}

impl RawBuf {
    /// `null`, without an allocation.
    pub const fn new() -> Self {
        Self {
            bytes: Bytes::Own(Vec::new()),
            form: Form::Plain,
        }
    }

    /// Checks a whole text, as [`Raw::parse`] does at the greatest depth, and keeps its bytes.
    ///
    /// # Errors
    ///
    /// The first [`Fault`].
    pub fn parse(text: impl Into<Vec<u8>>) -> Result<Self, Fault> {
        let bytes = text.into();
        let raw = Raw::parse(&bytes, MAX_DEPTH)?;
        if raw.as_bytes().len() < bytes.len() {
            return Ok(raw.into());
        }
        let form = raw.form();
        let bytes = Bytes::Own(bytes);
        Ok(Self { bytes, form })
    }

    /// Serializes a value of any type, with all members of all revisions.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the type does not serialize to JSON, or nests deeper than
    /// [`MAX_DEPTH`].
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        let mut bytes = vec![0; FIRST_TRY];
        loop {
            let mut writer = Writer::new(&mut bytes);
            writer.value(value, None)?;
            match writer.finish() {
                Ok(len) => {
                    bytes.truncate(len);
                    break;
                }
                Err(full) => bytes.resize(full.needed, 0),
            }
        }
        Self::parse(bytes).map_err(|_| EncodeError::Depth)
    }

    /// Decodes into a type; it may borrow text without escapes. See [`Raw::decode`].
    ///
    /// # Errors
    ///
    /// [`DecodeError`] tells what does not fit and where.
    pub fn decode<'b, T: Deserialize<'b>>(&'b self) -> Result<T, DecodeError> {
        self.as_raw().decode(&mut [])
    }

    /// Replaces what it holds by a copy of `raw`.
    pub fn copy_from(&mut self, raw: Raw<'_>) {
        let mut bytes = match core::mem::replace(&mut self.bytes, Bytes::Own(Vec::new())) {
            Bytes::Own(bytes) => bytes,
            #[cfg(target_has_atomic = "ptr")]
            Bytes::Shared(..) => Vec::new(),
        };
        bytes.clear();
        bytes.extend_from_slice(raw.as_bytes());
        self.bytes = Bytes::Own(bytes);
        self.form = raw.form();
    }

    /// A value that lies in these bytes, without a copy: it keeps all of them for as long as it
    /// lives. A value that lies elsewhere is copied.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use mcp_proto::json::{Raw, RawBuf};
    ///
    /// let message = Arc::new(br#"{"list": [1, 2]}"#.to_vec());
    /// let list = Raw::parse(&message, 8)?.object().and_then(|object| object.get("list"));
    /// let kept = RawBuf::within(&message, list.unwrap_or_default());
    /// assert!(kept.is_shared());
    /// assert_eq!(kept.as_raw().as_str(), "[1, 2]");
    /// assert!(!RawBuf::within(&message, Raw::NULL).is_shared());
    /// # Ok::<(), mcp_proto::json::Fault>(())
    /// ```
    #[cfg(target_has_atomic = "ptr")]
    pub fn within(bytes: &Arc<Vec<u8>>, raw: Raw<'_>) -> Self {
        match Span::of(raw, bytes) {
            Some(span) => Self {
                bytes: Bytes::Shared(Arc::clone(bytes), span),
                form: raw.form(),
            },
            None => raw.into(),
        }
    }

    /// Returns true if this buffer keeps a whole message alive instead of a copy of its own part.
    pub const fn is_shared(&self) -> bool {
        !matches!(self.bytes, Bytes::Own(_))
    }

    /// The value.
    pub fn as_raw(&self) -> Raw<'_> {
        let bytes = match &self.bytes {
            Bytes::Own(bytes) => bytes.as_slice(),
            #[cfg(target_has_atomic = "ptr")]
            Bytes::Shared(bytes, span) => return span.raw(bytes),
        };
        if bytes.is_empty() {
            Raw::NULL
        } else {
            Raw::scanned(bytes, self.form)
        }
    }

    /// The bytes that it can hold without allocating.
    pub fn capacity(&self) -> usize {
        match &self.bytes {
            Bytes::Own(bytes) => bytes.capacity(),
            #[cfg(target_has_atomic = "ptr")]
            Bytes::Shared(..) => 0,
        }
    }
}

impl Default for RawBuf {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Raw<'_>> for RawBuf {
    fn from(raw: Raw<'_>) -> Self {
        Self {
            bytes: Bytes::Own(raw.as_bytes().to_vec()),
            form: raw.form(),
        }
    }
}

impl From<Object<'_>> for RawBuf {
    fn from(object: Object<'_>) -> Self {
        object.as_raw().into()
    }
}

impl FromStr for RawBuf {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        Self::parse(text)
    }
}

/// Compares the texts, as [`Raw`] does.
impl PartialEq for RawBuf {
    fn eq(&self, other: &Self) -> bool {
        self.as_raw() == other.as_raw()
    }
}

impl Eq for RawBuf {}

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

/// Writes the JSON as it came.
impl fmt::Display for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_raw(), f)
    }
}

impl fmt::Debug for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_raw(), f)
    }
}

/// Most values need no second try.
const FIRST_TRY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;
    use alloc::string::{String, ToString};
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
    #[test]
    fn what_is_encoded_decodes_whatever_its_length() {
        for len in [
            0,
            1,
            FIRST_TRY - 3,
            FIRST_TRY - 2,
            FIRST_TRY - 1,
            FIRST_TRY,
            5000,
        ] {
            let text = "\n".repeat(len / 2) + &"x".repeat(len % 2);
            let encoded = RawBuf::encode(&text).unwrap();
            assert_eq!(encoded.decode::<String>().unwrap(), text, "{len}");
            assert_eq!(encoded.as_raw().as_str().parse(), Ok(encoded.clone()));
        }
    }

    #[test]
    fn an_absent_value_and_null_are_equal() {
        assert_eq!(RawBuf::new(), RawBuf::parse("null").unwrap());
        assert_ne!(RawBuf::new(), RawBuf::parse("0").unwrap());
    }

    #[test]
    fn nobody_encodes_what_nobody_reads() {
        #[derive(Serialize)]
        struct Nested(Option<Box<[Self; 1]>>);
        let nested = |depth| (0..depth).fold(Nested(None), |inner, _| Nested(Some([inner].into())));
        let depth = usize::from(MAX_DEPTH);
        assert!(RawBuf::encode(&nested(depth)).is_ok());
        let error = RawBuf::encode(&nested(depth + 1)).unwrap_err();
        assert_eq!(error, EncodeError::Depth);
        assert!(error.to_string().contains("deep"));
    }
}
