//! JSON of the scripts, and lines of event streams.

use mcp_proto::json::Raw;

use super::transcript::Transcript;

/// JSON of the script's own.
#[track_caller]
pub(crate) fn raw(text: &str) -> Raw<'_> {
    match Raw::parse(text.as_bytes(), 128) {
        Ok(raw) => raw,
        Err(fault) => panic!("{fault:?} in {text}"),
    }
}

/// Writes down each line of an event stream.
pub(crate) fn lines(transcript: &mut Transcript, mark: &str, bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            transcript.bytes(mark, line);
        }
    }
}
