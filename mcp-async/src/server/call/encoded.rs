//! Values encoded as JSON.

use core::cell::Cell;

use mcp_proto::json::{EncodeError, MAX_DEPTH, Raw, RawBuf, Writer};
use serde::Serialize;

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
    let result = then(fill(write, &mut buffer));
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

fn fill(
    write: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    buffer: &mut Vec<u8>,
) -> Option<Raw<'_>> {
    if buffer.is_empty() {
        buffer.resize(FIRST, 0);
    }
    let len = loop {
        let mut writer = Writer::new(buffer);
        write(&mut writer).ok()?;
        match writer.finish() {
            Ok(len) => break len,
            Err(full) => buffer.resize(full.needed, 0),
        }
    };
    Raw::parse(buffer.get(..len)?, MAX_DEPTH).ok()
}

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Most results fit.
const FIRST: usize = 1024;
/// The largest buffer that a thread keeps.
const KEPT: usize = 64 << 10;
