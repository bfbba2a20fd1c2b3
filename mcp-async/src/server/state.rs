//! State of the server role that the lock of the connection guards.

use core::task::Waker;

use mcp_proto::Token;

use super::rate::Bucket;
use super::rounds::{Kept, Rounds};
use crate::connection::RoleState;

/// The calls that ask questions, and what is left of the limit of log messages.
#[derive(Debug, Default)]
pub(crate) struct ServerState {
    pub(crate) rounds: Rounds,
    /// How many log messages may still be sent; without a limit, any number.
    pub(super) logs: Option<Bucket>,
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
