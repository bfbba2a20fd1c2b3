//! The questions that wait for an answer of the client.

use core::time::Duration;

use crate::action::Channel;
use crate::ping::Missed;
use crate::sent::{Sent, SentRequest, SentRequests};
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
    pub(super) sent: Sent,
    pub(super) parent: Option<Key>,
    /// The channel of the question, and of its cancellation.
    pub(super) channel: Channel,
    pub(super) over: Option<Over>,
}

impl SentRequest for Pending {
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
        let question = self.table.remove(key)?;
        Some((key, question.sent.cookie))
    }

    /// Ends a question on our side, with optional notifications of the client and of the
    /// application.
    pub(super) fn end(&mut self, key: Key, cancel: bool, tell: Option<Ended>) {
        let Some(question) = self.table.get_mut(key) else {
            return;
        };
        if question.over.is_some() {
            return;
        }
        question.over = Some(Over { cancel, tell });
        self.table.arm(key, None);
        if cancel {
            self.table.mark(Queue::Transmit, key);
        }
        if tell.is_some() {
            self.table.mark(Queue::Event, key);
        }
    }

    /// Ends a question that the application gave up, which may have ended already without the
    /// application knowing yet.
    pub(super) fn give_up(&mut self, key: Key) {
        self.end(key, true, None);
        let over = self
            .table
            .get_mut(key)
            .and_then(|question| question.over.as_mut());
        if let Some(over) = over
            && over.tell.take().is_some()
        {
            let told = !over.cancel;
            self.table.unmark(Queue::Event, key);
            if told {
                self.table.remove(key);
            }
        }
    }

    /// Ends all of them; a client that is gone is not notified.
    pub(super) fn end_all(&mut self, why: Ended) {
        let cancel = why != Ended::Closed;
        for index in 0..self.table.capacity() as u32 {
            let Some(key) = self.table.key(index) else {
                continue;
            };
            self.end(key, cancel, Some(why));
            if !cancel {
                self.cancel_told(key);
            }
        }
    }

    /// Ends what was asked on behalf of a request that is over.
    pub(super) fn end_children(&mut self, parent: Key) {
        if self.table.is_empty() {
            return;
        }
        for index in 0..self.table.capacity() as u32 {
            let Some(key) = self.table.key(index) else {
                continue;
            };
            let question = self.table.get(key);
            if question.is_some_and(|question| question.parent == Some(parent)) {
                self.end(key, true, Some(Ended::Cancelled));
            }
        }
    }

    /// Ends the questions whose time is over, and returns the ping that was missed.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Missed> {
        if !S::HOLDS {
            return None;
        }
        while let Some(key) = self.table.pop_due(now) {
            self.end(key, true, Some(Ended::Timeout));
        }
        self.pinger.handle_timeout(now)
    }

    /// The next question that ended without an answer: its place, its cookie and why.
    pub(super) fn next_ended(&mut self) -> Option<(Key, u64, Ended)> {
        let key = self.table.first(Queue::Event)?;
        self.table.unmark(Queue::Event, key);
        let question = self.table.get_mut(key)?;
        let cookie = question.sent.cookie;
        let over = question.over.as_mut()?;
        let why = over.tell.take()?;
        if !over.cancel {
            self.table.remove(key);
        }
        Some((key, cookie, why))
    }

    /// The client was notified that a question is over, or can no longer be notified.
    pub(super) fn cancel_told(&mut self, key: Key) {
        self.table.unmark(Queue::Transmit, key);
        let over = self
            .table
            .get_mut(key)
            .and_then(|question| question.over.as_mut());
        let Some(over) = over else {
            return;
        };
        over.cancel = false;
        if over.tell.is_none() {
            self.table.remove(key);
        }
    }

    /// Returns true if the cancellation of a question is to be sent, or a ping.
    pub(super) fn has_output(&self) -> bool {
        self.table.first(Queue::Transmit).is_some() || self.is_ping_due()
    }

    /// The channels of these notifications.
    pub(super) fn cancelled_on(&self) -> impl Iterator<Item = Channel> {
        let marked = self.table.marked(Queue::Transmit);
        marked.map(|(_, question)| question.channel)
    }

    /// The first question that the client is to be told of on this channel, and its number.
    pub(super) fn next_cancelled(&self, on: Channel) -> Option<(Key, u64)> {
        let mut marked = self.table.marked(Queue::Transmit);
        marked
            .find(|(_, question)| question.channel == on)
            .map(|(key, question)| (key, question.sent.id))
    }

    /// Returns true if the cancellation of a question is still to be sent on this channel.
    pub(super) fn occupy(&self, channel: Channel) -> bool {
        self.table.values().any(|question| {
            question.channel == channel && question.over.is_some_and(|over| over.cancel)
        })
    }
}
