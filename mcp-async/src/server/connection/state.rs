//! State of the server role that the lock of the connection guards.

use std::sync::Arc;

use mcp_proto::rpc::Method;
use mcp_proto::{Revision, Token};

use crate::connection::RoleState;
use crate::server::caller::buckets::Bucket;
use crate::server::caller::extension_revisions::ExtensionRevisions;
use crate::server::rounds::{EndedCall, Rounds};
use crate::sync::Waiters;

/// The calls that ask questions, and the settings of the server that a connection needs.
#[derive(Default)]
pub(crate) struct ServerState {
    pub(crate) rounds: Rounds,
    /// The log messages that may still be sent; without a limit, any number.
    pub(in crate::server) logs: Option<Bucket>,
    /// The revisions of the extensions of a typed server.
    pub(in crate::server) extensions: Option<Arc<dyn ExtensionRevisions>>,
}

impl ServerState {
    /// Returns whether the server has the extension, but not in this revision.
    pub(in crate::server) fn is_off(&self, extension: &str, revision: Revision) -> bool {
        let known = self.extensions.as_ref();
        known.is_some_and(|known| known.is_off(extension, revision))
    }

    /// Returns whether no extension of the server that has this notification is off in this revision.
    pub(in crate::server) fn may_send(
        &self,
        notification: Method<'_>,
        revision: Option<Revision>,
    ) -> bool {
        match (&self.extensions, revision) {
            (Some(known), Some(revision)) => known.may_send(notification, revision),
            _ => true,
        }
    }
}

impl RoleState for ServerState {
    type Ended = EndedCall;

    fn forget(&mut self, token: Token) -> Option<EndedCall> {
        self.rounds.forget(token)
    }

    fn end(&mut self, waiting: &mut Waiters) {
        self.rounds.end(waiting);
    }
}
