//! Payloads encoded before they are sent.

use mcp_proto::json::{EncodeError, MAX_DEPTH, Raw, RawBuf, Writer};
use mcp_proto::{Payload, Revision};

/// Encodes a payload as this revision spells it.
pub(crate) fn encode(payload: &dyn Payload, revision: Revision) -> Result<RawBuf, EncodeError> {
    let mut bytes = vec![0; FIRST_TRY];
    loop {
        let mut writer = Writer::new(&mut bytes);
        payload.write(&mut writer, revision)?;
        match writer.finish() {
            Ok(len) => {
                let raw = Raw::parse(bytes.get(..len).unwrap_or_default(), MAX_DEPTH);
                return raw.map(RawBuf::from).map_err(|_| EncodeError::Depth);
            }
            Err(full) => bytes.resize(full.needed, 0),
        }
    }
}

/// Most payloads fit.
const FIRST_TRY: usize = 512;
