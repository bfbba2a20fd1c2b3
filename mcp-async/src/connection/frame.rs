//! Large messages, which are kept without a copy.

use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::json::{Raw, RawBuf};

/// The message that an event borrows from, if it is a large one: then it can be kept without a
/// copy.
pub(crate) type Frame<'b> = Option<&'b Arc<Vec<u8>>>;

/// Received messages as text, one or an array. A message that keeps a part of a large text keeps
/// all of it instead of a copy.
pub(crate) enum Text {
    Small(Bytes),
    Large(Arc<Vec<u8>>),
}

impl Text {
    pub(crate) fn new(text: Bytes) -> Self {
        if text.len() >= LARGE {
            Self::Large(Arc::new(text.into()))
        } else {
            Self::Small(text)
        }
    }

    pub(crate) const fn frame(&self) -> Frame<'_> {
        match self {
            Self::Small(_) => None,
            Self::Large(bytes) => Some(bytes),
        }
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large(bytes) => bytes,
        }
    }
}

/// A part of a message, without a copy if both are large: what keeps a large message should be
/// most of it.
pub(crate) fn keep(part: Raw<'_>, frame: Frame<'_>) -> RawBuf {
    match frame {
        Some(frame) if part.as_bytes().len() >= LARGE / 2 => RawBuf::within(frame, part),
        _ => RawBuf::from(part),
    }
}

/// Messages of at least this size are not copied when most of one is kept.
pub(crate) const LARGE: usize = 64 << 10;
