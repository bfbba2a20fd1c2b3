//! The questions that wait for an answer of the client.

use core::time::Duration;

use crate::action::{BufferFull, Channel};
use crate::ping::Missed;
use crate::sent::{Cancellation, Sent, SentRequest, SentRequests};
use crate::slots::{Key, Queue, Slot};
use crate::store::Table;
use crate::time::Instant;

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
    pub(super) sent: Sent<Ended>,
    pub(super) parent: Option<Key>,
    /// The channel of the question, and of its cancellation.
    pub(super) channel: Channel,
}

impl SentRequest for Pending {
    type End = Ended;

    fn sent(&self) -> &Sent<Ended> {
        &self.sent
    }

    fn sent_mut(&mut self) -> &mut Sent<Ended> {
        &mut self.sent
    }
}

/// The reasons for which a question ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Timeout,
    Cancelled,
    Closed,
}

/// The table of questions.
pub(super) type Questions<S> = SentRequests<Pending, S>;

impl<S: Table<Slot<Pending>>> Questions<S> {
    /// Returns false if the table never holds a question.
    pub(super) const fn has_room(&self) -> bool {
        S::HOLDS
    }

    /// Takes out the question that was answered. Returns its cookie as well.
    pub(super) fn answered(&mut self, number: u64) -> Option<(Key, u64)> {
        let key = self.find(number)?;
        let question = self.remove(key)?;
        Some((key, question.sent.cookie))
    }

    /// Ends what was asked on behalf of a request that is over.
    pub(super) fn end_children(&mut self, parent: Key) {
        if self.table.is_empty() {
            return;
        }
        let mut at = 0;
        while let Some(key) = self.table.next_key(&mut at) {
            let question = self.table.get(key);
            if question.is_some_and(|question| question.parent == Some(parent)) {
                self.end(key, Cancellation::Owed, Ended::Cancelled);
            }
        }
    }

    /// Ends the questions whose time is over, and returns the ping that was missed.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Missed> {
        if !S::HOLDS {
            return None;
        }
        while let Some(key) = self.table.pop_due(now) {
            self.end(key, Cancellation::Owed, Ended::Timeout);
        }
        self.pinger.handle_timeout(now)
    }

    /// Returns true if the cancellation of a question is to be sent, or a ping.
    pub(super) fn has_output(&self) -> bool {
        self.next_cancelled().is_some() || self.is_ping_due()
    }

    /// The channels of these notifications.
    pub(super) fn cancelled_on(&self) -> impl Iterator<Item = Channel> {
        let marked = self.table.marked(Queue::Transmit);
        marked.map(|(_, question)| question.channel)
    }

    /// Writes the first cancellation that is to be sent on this channel.
    pub(super) fn write_cancellation_on(
        &mut self,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<usize>, BufferFull> {
        let mut marked = self.table.marked(Queue::Transmit);
        let Some((key, _)) = marked.find(|(_, question)| question.channel == on) else {
            return Ok(None);
        };
        drop(marked);
        self.write_cancellation(key, out).map(Some)
    }

    /// Returns true if the cancellation of a question is still to be sent on this channel.
    pub(super) fn occupy(&self, channel: Channel) -> bool {
        let mut questions = self.table.values();
        questions.any(|it| it.channel == channel && it.sent.is_cancellation_owed())
    }
}
