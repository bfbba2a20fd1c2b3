//! State of the server role that the lock of the connection guards.

use core::task::Waker;
use std::sync::Arc;

use mcp_proto::rpc::Method;
use mcp_proto::{Revision, Token};

use super::rate::Bucket;
use super::rounds::{Kept, Rounds};
use super::settings::Settings;
use crate::connection::RoleState;

/// The calls that ask questions, what is left of the limit of log messages, and the settings of the
/// server.
#[derive(Default)]
pub(crate) struct ServerState {
    pub(crate) rounds: Rounds,
    /// How many log messages may still be sent; without a limit, any number.
    pub(super) logs: Option<Bucket>,
    /// Those of a typed server.
    pub(super) settings: Option<Arc<Settings>>,
}

impl ServerState {
    /// Whether the server has the extension, but not in this revision.
    pub(super) fn is_off(&self, extension: &str, revision: Revision) -> bool {
        let mut known = self.settings.iter().flat_map(|it| &it.extensions);
        let known = known.find(|known| known.name == extension);
        known.is_some_and(|known| !known.revisions.contains(revision))
    }

    /// Whether no extension of the server that has this notification is off in this revision.
    pub(super) fn may_send(&self, notification: Method<'_>, revision: Option<Revision>) -> bool {
        let name = notification.name();
        let mut known = self.settings.iter().flat_map(|it| &it.sends);
        let known = known.find(|(known, _)| name == *known.as_str());
        match (known, revision) {
            (Some((_, revisions)), Some(revision)) => revisions.contains(revision),
            _ => true,
        }
    }
}

impl RoleState for ServerState {
    type Kept = Kept;

    fn forget(&mut self, token: Token) -> Option<Kept> {
        self.rounds.forget(token)
    }

    fn end(&mut self, waiting: &mut Vec<Waker>) {
        self.rounds.end(waiting);
    }
}
