//! Arguments of a tool that headers repeat: `Mcp-Param-*`.

use http::HeaderMap;
use mcp_proto::http::annotation::Annotations;
use mcp_proto::http::mirror;
use mcp_proto::json::Raw;
use mcp_proto::rpc::code;

use super::Call;
use crate::error::ErrorReply;

/// Whether the head of the call says what its arguments say, where its revision wants that
/// (XH-14 to XH-16, XH-25). What no annotation names is nobody's.
pub(super) fn check(annotations: &Annotations, call: &Call<'_>) -> Result<(), ErrorReply> {
    if annotations.is_empty() {
        return Ok(());
    }
    let Some(head) = call.context().http().filter(|_| wants(call)) else {
        return Ok(());
    };
    let arguments = call.params.get("arguments").and_then(Raw::object);
    for (name, value) in annotations.values(arguments) {
        agrees(&head.headers, name, value)
            .map_err(|what| ErrorReply::new(code::HEADER_MISMATCH, format!("{name} {what}")))?;
    }
    Ok(())
}

/// The draft profile has such headers in the sessions of other revisions, too.
fn wants(call: &Call<'_>) -> bool {
    let revision = call.request.revision;
    let drafted = || call.context().shared.lock().machine.config().draft_profile;
    revision.has_mirrored_headers() || (revision.is_legacy() && drafted())
}

fn agrees(head: &HeaderMap, name: &str, value: Option<Raw<'_>>) -> Result<(), &'static str> {
    let mut lines = head.get_all(name).iter();
    let text = match (lines.next(), lines.next()) {
        (Some(_), Some(_)) => return Err("occurs twice"),
        (line, _) => line,
    };
    match (text, value) {
        (None, None) => Ok(()),
        // The tool refuses an argument that no header can carry.
        (None, Some(value)) if !is_mirrored(value) => Ok(()),
        (None, Some(_)) => Err("is missing"),
        (Some(_), None) => Err("has no argument to it"),
        (Some(text), Some(value)) if mirror::matches(text.as_bytes(), value) => Ok(()),
        (Some(_), Some(_)) => Err("differs from the argument"),
    }
}

/// Whether a header could carry the value.
fn is_mirrored(value: Raw<'_>) -> bool {
    !matches!(
        mirror::write(value, &mut []),
        Err(mirror::MirrorError::Kind
            | mirror::MirrorError::Range
            | mirror::MirrorError::LoneSurrogate)
    )
}
