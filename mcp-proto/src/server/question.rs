//! A question that waits for the answer of the client.

use core::time::Duration;

use crate::action::Channel;
use crate::sent::{Request, Sent};
use crate::slots::Key;

/// The options of a question.
#[derive(Clone, Copy, Debug)]
pub struct AskOptions {
    /// The time to wait for the answer (LC-18).
    pub timeout: Duration,
    /// The longest wait that progress can stretch this to (LC-19).
    pub max_duration: Duration,
    /// True to ask the client for progress; each progress notification starts the timeout anew.
    pub progress: bool,
    /// A number of the caller's choice, which comes back with the answer.
    pub cookie: u64,
}

impl Default for AskOptions {
    /// Five minutes, because a person may have to answer, and ten with progress.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            max_duration: Duration::from_secs(600),
            progress: false,
            cookie: 0,
        }
    }
}

/// A question in a server's table.
#[expect(unnameable_types, reason = "only the sealed `Storage` names it")]
#[derive(Clone, Debug)]
pub struct Pending {
    pub(super) sent: Sent,
    pub(super) parent: Option<Key>,
    /// Where it went, and where its cancellation goes.
    pub(super) channel: Channel,
    pub(super) over: Option<Over>,
}

impl Request for Pending {
    fn sent(&self) -> &Sent {
        &self.sent
    }

    fn sent_mut(&mut self) -> &mut Sent {
        &mut self.sent
    }

    fn is_awaited(&self) -> bool {
        self.over.is_none()
    }
}

/// A question that ended without an answer, and what is left to do about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Over {
    /// The client must still be notified by `notifications/cancelled`.
    pub(super) cancel: bool,
    /// The application must still be notified of this.
    pub(super) tell: Option<Ended>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Timeout,
    Cancelled,
    Closed,
}
