//! Parameters and results: encoded before they are sent, and decoded when they have come.

use mcp_proto::json::{DecodeError, EncodeError, Kind, MAX_DEPTH, Raw, RawBuf, Writer};
use mcp_proto::{Payload, Revision};
use serde::de::DeserializeOwned;

/// Decodes a value of the peer. An object is `()` to who asks for it.
pub(crate) fn decode<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T, DecodeError> {
    match empty() {
        Some(value) if raw.kind() == Kind::Object => Ok(value),
        _ => raw.decode(&mut []),
    }
}

/// The value of `()`, or of another type that has one value and no members; `None` for every other type.
pub(crate) fn empty<T: DeserializeOwned>() -> Option<T> {
    let has_size = size_of::<T>() > 0;
    (!has_size)
        .then(|| Raw::NULL.decode(&mut []).ok())
        .flatten()
}

/// Encodes a payload as this revision spells it.
pub(crate) fn encode(payload: &dyn Payload, revision: Revision) -> Result<RawBuf, EncodeError> {
    let write = |writer: &mut Writer<'_>| payload.write(writer, revision);
    fill(&mut Vec::new(), write).map(RawBuf::from)
}

/// Writes JSON into a buffer, which grows until it fits.
pub(crate) fn fill(
    buffer: &mut Vec<u8>,
    write: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Raw<'_>, EncodeError> {
    if buffer.is_empty() {
        buffer.resize(FIRST, 0);
    }
    let len = loop {
        let mut writer = Writer::new(buffer);
        write(&mut writer)?;
        match writer.finish() {
            Ok(len) => break len,
            Err(full) => buffer.resize(full.needed, 0),
        }
    };
    let written = Raw::parse(buffer.get(..len).unwrap_or_default(), MAX_DEPTH);
    written.map_err(|_| EncodeError::Depth)
}

/// Most payloads fit.
const FIRST: usize = 1024;
