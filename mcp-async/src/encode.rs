//! Payloads encoded before they are sent.

use mcp_proto::json::{EncodeError, MAX_DEPTH, Raw, RawBuf, Writer};
use mcp_proto::{Payload, Revision};

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
