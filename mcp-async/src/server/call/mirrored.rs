//! Arguments of a tool that headers repeat: `Mcp-Param-*`.

use http::HeaderMap;
use mcp_proto::http::annotation::{Annotations, Argument};
use mcp_proto::http::mirror::MirrorError;
use mcp_proto::json::Raw;
use mcp_proto::rpc::code;

use crate::error::ErrorReply;
use crate::server::Call;

/// Checks that the head of the call repeats its arguments, where its revision wants that (XH-14 to
/// XH-16, XH-25). Headers that no annotation names are ignored.
pub(in crate::server) fn check(
    annotations: &Annotations,
    call: &Call<'_>,
) -> Result<(), ErrorReply> {
    let Some(head) = call.context().http().filter(|_| wants(call)) else {
        return Ok(());
    };
    let arguments = call.request.arguments.and_then(Raw::object);
    for argument in annotations.of(arguments) {
        agrees(&head.headers, &argument).map_err(|what| {
            let message = format!("{} {what}", argument.header);
            ErrorReply::new(code::HEADER_MISMATCH, message)
        })?;
    }
    Ok(())
}

/// Returns true if the call belongs to a session that is held to the transports draft, which has
/// such headers in the legacy era, too.
pub(in crate::server) fn is_draft(call: &Call<'_>) -> bool {
    let machine = || call.context().host.is_held_to_draft();
    call.request.revision.is_legacy() && machine()
}

fn wants(call: &Call<'_>) -> bool {
    let revision = call.request.revision;
    revision.has_mirrored_headers() || is_draft(call)
}

fn agrees(head: &HeaderMap, argument: &Argument<'_, '_>) -> Result<(), &'static str> {
    let mut lines = head.get_all(argument.header).iter();
    let text = match (lines.next(), lines.next()) {
        (Some(_), Some(_)) => return Err("occurs twice"),
        (line, _) => line,
    };
    match (text, argument.value) {
        (None, None) => Ok(()),
        // The tool refuses an argument that no header can carry.
        (None, Some(_)) if !is_mirrored(argument) => Ok(()),
        (None, Some(_)) => Err("is missing"),
        (Some(_), None) => Err("has no argument to it"),
        (Some(text), Some(_)) if argument.matches(text.as_bytes()) => Ok(()),
        (Some(_), Some(_)) => Err("differs from the argument"),
    }
}

/// Returns true if a header can carry the value.
fn is_mirrored(argument: &Argument<'_, '_>) -> bool {
    !matches!(
        argument.write(&mut []),
        Err(MirrorError::Kind | MirrorError::Range | MirrorError::LoneSurrogate)
    )
}
