//! The conditions under which a caller is shown an item.

use super::super::service::Call;
use super::super::tool::Tool;
use super::super::visibility::Visibility;

/// Returns true if the item is shown to the caller.
pub(super) fn is_shown(visibility: &Visibility, call: &Call<'_>) -> bool {
    visibility.shows(call.context().principal())
}

/// Returns true if the revision of the call has such tools (XH-04).
pub(super) fn is_served(tool: &Tool, call: &Call<'_>) -> bool {
    !tool.drafted || is_draft(call)
}

/// Returns true if the call is one of the transports draft, which HTTP alone has.
fn is_draft(call: &Call<'_>) -> bool {
    #[cfg(feature = "http-server")]
    let draft = super::super::mirrored::is_draft(call);
    #[cfg(not(feature = "http-server"))]
    let draft = {
        let _ = call;
        false
    };
    draft
}
