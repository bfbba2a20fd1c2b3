//! Large messages, which are kept instead of copied.

use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};

/// The message that an event borrows from, if it is a large one: then it can be kept without a
/// copy.
pub(crate) type Frame<'b> = Option<&'b Arc<Vec<u8>>>;

/// A part of a message, without a copy if both are large: what keeps a large message should be
/// most of it.
pub(crate) fn keep(part: Raw<'_>, frame: Frame<'_>) -> RawBuf {
    match frame {
        Some(frame) if part.as_bytes().len() >= LARGE / 2 => RawBuf::within(frame, part),
        _ => RawBuf::from(part),
    }
}

/// Messages from so many bytes on are not copied by whoever keeps most of one.
pub(crate) const LARGE: usize = 64 << 10;
