//! JSON of the scripts, and words of the transcripts' own for what did not happen.

use mcp_proto::json::Raw;
use mcp_proto::{IgnoreReason, SendError};

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

/// Why a command was refused.
pub(crate) fn refusal(error: SendError) -> String {
    match error {
        SendError::BufferFull { needed } => format!("{needed} bytes needed"),
        SendError::TooLarge { needed } => format!("too large: {needed} bytes"),
        SendError::Stale => "stale".into(),
        SendError::TableFull => "table full".into(),
        SendError::MissingCapability(capability) => format!("undeclared: {capability}"),
        SendError::NotInRevision => "not in the revision".into(),
        SendError::NotReady => "not ready".into(),
        SendError::Closed => "closed".into(),
        SendError::Progress => "no progress".into(),
        SendError::Encode => "not encodable".into(),
        other => format!("{other:?}"),
    }
}

/// Why a message had no effect.
pub(crate) fn ignored(why: IgnoreReason) -> String {
    match why {
        IgnoreReason::UnknownNotification => "unknown notification".into(),
        IgnoreReason::LateResponse => "late response".into(),
        IgnoreReason::UnknownCancellation => "unknown cancellation".into(),
        IgnoreReason::Misplaced => "misplaced".into(),
        IgnoreReason::Malformed => "malformed".into(),
        IgnoreReason::Garbage => "garbage".into(),
        IgnoreReason::StaleProgress => "stale progress".into(),
        IgnoreReason::DuplicateQuestion => "doubled question".into(),
        IgnoreReason::NoRoom => "no room".into(),
        IgnoreReason::Closed => "closed".into(),
        other => format!("{other:?}"),
    }
}
