//! The table of questions that wait for an answer of the client, and the pings.

use super::question::{Ended, Over, Pending};
use crate::action::{Channel, SendError};
use crate::json::Number;
use crate::ping::{Missed, PingPolicy, Pinger, Unwritten};
use crate::slots::{Key, Queue, Slot, Slots};
use crate::store::Table;
use crate::time::Instant;

/// The table of questions, the pings, and the ids of both. In a store that holds nothing no question is asked, and no
/// ping is sent.
pub(super) struct Questions<S> {
    table: Slots<Pending, S>,
    pinger: Pinger,
    /// Ids of our requests count up, so that none is ever used twice (JR-05).
    next_id: u64,
}

impl<S: Table<Slot<Pending>>> Questions<S> {
    pub(super) fn new(store: S, limit: usize, ping: Option<PingPolicy>) -> Self {
        Self {
            table: Slots::new(store, limit),
            pinger: Pinger::new(ping.filter(|_| S::HOLDS), Unwritten::Waits),
            next_id: 1,
        }
    }

    /// The session has begun: from now on it is pinged.
    pub(super) fn start_pings(&mut self, now: Instant) {
        if S::HOLDS {
            self.pinger.start(now);
        }
    }

    pub(super) fn stop_pings(&mut self) {
        self.pinger.stop();
    }

    /// Returns false if the table never holds a question.
    pub(super) const fn has_room(&self) -> bool {
        S::HOLDS
    }

    /// The id of the ping that is to be written now.
    pub(super) fn due_ping(&self) -> Option<u64> {
        (S::HOLDS && self.pinger.is_due()).then_some(self.next_id)
    }

    /// The ping that was due was written.
    pub(super) fn pinged(&mut self, now: Instant) {
        self.pinger.sent(now, self.next_id);
        self.pass_id();
    }

    /// Takes the answer to the ping of this id. Returns false if no such ping is unanswered.
    pub(super) fn take_pong(&mut self, now: Instant, id: u64) -> bool {
        S::HOLDS && self.pinger.answered(now, id)
    }

    /// The id of our next request; [`pass_id`](Self::pass_id) once its bytes fit.
    pub(super) const fn next_id(&self) -> u64 {
        self.next_id
    }

    pub(super) const fn pass_id(&mut self) {
        self.next_id = self.next_id.saturating_add(1);
    }

    /// Continues after the ids of another process.
    pub(super) fn go_on_from(&mut self, id: u64) {
        self.next_id = id.max(1);
    }

    /// Whether a request of ours had this id.
    pub(super) fn is_used(&self, id: u64) -> bool {
        (1..self.next_id).contains(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Takes in a question that is asked now, under the next id.
    pub(super) fn insert(&mut self, now: Instant, question: Pending) -> Result<Key, SendError> {
        let deadline = (now + question.timeout).min(question.latest);
        let key = self
            .table
            .insert(question.number as u32, question)
            .map_err(|_| SendError::TableFull)?;
        self.table.arm(key, Some(deadline));
        self.pass_id();
        Ok(key)
    }

    /// The question that waits under this number; one that is over has no answer any more.
    pub(super) fn find(&self, number: u64) -> Option<Key> {
        self.table.find(number as u32, |question| {
            question.number == number && question.over.is_none()
        })
    }

    /// Takes out the question that was answered. Returns its cookie as well.
    pub(super) fn answered(&mut self, number: u64) -> Option<(Key, u64)> {
        let key = self.find(number)?;
        let question = self.table.remove(key)?;
        Some((key, question.cookie))
    }

    /// Notes progress that increases, and gives the question more time: PG-04, PG-09. Returns its
    /// cookie as well.
    pub(super) fn progressed(
        &mut self,
        now: Instant,
        number: u64,
        progress: Number<'_>,
    ) -> Option<(Key, u64)> {
        let key = self.find(number)?;
        let question = self.table.get_mut(key)?;
        if progress.decimal() <= question.progress {
            return None;
        }
        question.progress = progress.decimal();
        let cookie = question.cookie;
        let deadline = (now + question.timeout).min(question.latest);
        self.table.arm(key, Some(deadline));
        Some((key, cookie))
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

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        if !S::HOLDS {
            return None;
        }
        let deadlines = [self.table.next_deadline(), self.pinger.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// The next question that ended without an answer: its place, its cookie and why.
    pub(super) fn next_ended(&mut self) -> Option<(Key, u64, Ended)> {
        let key = self.table.first(Queue::Event)?;
        self.table.unmark(Queue::Event, key);
        let question = self.table.get_mut(key)?;
        let cookie = question.cookie;
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
        self.table.first(Queue::Transmit).is_some() || self.due_ping().is_some()
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
            .map(|(key, question)| (key, question.number))
    }

    /// Whether the end of a question is still to be said on this channel.
    pub(super) fn occupy(&self, channel: Channel) -> bool {
        self.table.values().any(|question| {
            question.channel == channel && question.over.is_some_and(|over| over.cancel)
        })
    }
}
