//! The era of a message.

use super::endpoint::Post;
use crate::model::MetaEvidence;
use crate::revision::RevisionSet;
use crate::rpc::Method;

/// Returns whether a message is of the modern era: by its `_meta`, by its method, and by the head of the POST that brought
/// it, if it did not come on a pipe.
pub(crate) fn is_modern(
    revisions: RevisionSet,
    head: Option<&Post<'_>>,
    method: Option<Method<'_>>,
    meta: impl FnOnce() -> MetaEvidence,
) -> bool {
    let serves_modern = revisions.has_modern();
    // Without a legacy revision every POST is modern, even one that lacks the header or the
    // version (SH-37, VR-25).
    let by_head = |head: &Post<'_>| {
        head.is_modern()
            || (serves_modern
                && (method == Some(Method::ServerDiscover) || !revisions.has_legacy()))
    };
    head.is_some_and(by_head) || {
        let meta = meta();
        meta.version || (meta.other && serves_modern)
    }
}
