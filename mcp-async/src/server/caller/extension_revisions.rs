//! The revisions that the extensions of a server are in.

use mcp_proto::Revision;
use mcp_proto::rpc::Method;

/// A server whose extensions may be off in some revisions.
pub(in crate::server) trait ExtensionRevisions: Send + Sync {
    /// Returns whether the server has the extension, but not in this revision.
    fn is_off(&self, extension: &str, revision: Revision) -> bool;

    /// Returns whether no extension that has this notification is off in this revision.
    fn may_send(&self, notification: Method<'_>, revision: Revision) -> bool;
}
