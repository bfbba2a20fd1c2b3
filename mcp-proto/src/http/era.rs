//! The era of a message.

use super::endpoint::Post;
use crate::json::Object;
use crate::model::keys;
use crate::revision::RevisionSet;
use crate::rpc::Method;

/// The evidence of the era in `_meta` of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetaEvidence {
    /// It names a version (VR-19).
    pub(crate) version: bool,
    /// It has another member that only a modern request has (VR-03).
    pub(crate) other: bool,
}

impl MetaEvidence {
    /// The evidence in the parameters of a message.
    pub(crate) fn of(params: Option<Object<'_>>) -> Self {
        let meta = params.and_then(|params| params.get("_meta"));
        let Some(meta) = meta.and_then(|meta| meta.object()) else {
            return Self::default();
        };
        // Of a member that stands twice one is enough: the machine refuses it.
        let mut evidence = Self::default();
        for (name, _) in meta.members() {
            evidence.version |= name == keys::PROTOCOL_VERSION;
            evidence.other |= OTHERS.iter().any(|key| name == **key);
        }
        evidence
    }
}

/// Returns whether a message is of the modern era: by its `_meta`, by its method, and by the head of the POST that brought
/// it, if it did not come on a pipe.
pub(crate) fn is_modern(
    revisions: RevisionSet,
    head: Option<&Post<'_>>,
    method: Option<Method<'_>>,
    meta: impl FnOnce() -> MetaEvidence,
) -> bool {
    let serves_modern = revisions.newest_modern().is_some();
    // Without a legacy revision every POST is modern, even one that lacks the header or the
    // version (SH-37, VR-25).
    let by_head = |head: &Post<'_>| {
        head.is_modern()
            || (serves_modern
                && (method == Some(Method::ServerDiscover) || revisions.newest_legacy().is_none()))
    };
    head.is_some_and(by_head) || {
        let meta = meta();
        meta.version || (meta.other && serves_modern)
    }
}

const OTHERS: [&str; 3] = [
    keys::CLIENT_CAPABILITIES,
    keys::LOG_LEVEL,
    keys::CLIENT_INFO,
];
