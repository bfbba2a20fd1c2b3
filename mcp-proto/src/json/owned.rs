//! An owned value.

use alloc::vec::Vec;
use core::fmt;

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

impl fmt::Debug for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_raw().fmt(f)
    }
}
