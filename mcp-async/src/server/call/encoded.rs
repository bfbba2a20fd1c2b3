//! Values encoded as JSON.

use core::cell::Cell;

use mcp_proto::json::{EncodeError, Raw, RawBuf, Writer};
use serde::Serialize;

use crate::payload::fill;

/// Encodes the value, lends it to `then`, and keeps the buffer for the next one: an ordinary
/// result costs no allocation. `None` is for what is no JSON.
pub(super) fn with_encoded<T: Serialize + ?Sized, R>(
    value: &T,
    then: impl FnOnce(Option<Raw<'_>>) -> R,
) -> R {
    with_written(|writer| writer.value(value, None), then)
}

/// Encodes a value by `write`, lends it to `then`, and keeps the buffer for the next one. `None` is
/// for what is no JSON.
pub(in crate::server) fn with_written<R>(
    write: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    then: impl FnOnce(Option<Raw<'_>>) -> R,
) -> R {
    // Taken out while it is in use: what is written may encode something itself.
    let mut buffer = BUFFER.try_with(Cell::take).unwrap_or_default();
    let result = then(fill(&mut buffer, write).ok());
    if buffer.capacity() <= KEPT {
        // A thread that ends keeps nothing.
        let _ = BUFFER.try_with(|kept| kept.set(buffer));
    }
    result
}

/// The value as JSON, `None` if it cannot be encoded.
pub(in crate::server) fn encode<T: Serialize + ?Sized>(value: &T) -> Option<RawBuf> {
    with_encoded(value, |raw| raw.map(RawBuf::from))
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The largest buffer that a thread keeps.
const KEPT: usize = 64 << 10;
