//! The table of calls that wait for an answer.

use core::time::Duration;

use super::abandoned::{Abandoned, AbandonedCalls, LateResults};
use super::call::{Failure, InFlight, Kind, Stage};
use crate::action::SendError;
use crate::ping::{PingPolicy, Pinger, Unwritten};
use crate::sent::SentRequests;
use crate::slots::{Key, Queue, Slot};
use crate::store::Table;
use crate::time::Instant;

/// The table of calls.
#[derive(Debug)]
pub(super) struct Calls<S, A> {
    pub(super) sent: SentRequests<InFlight, S>,
    /// Only what restores a session may be called.
    held: bool,
    abandoned: AbandonedCalls<A>,
    /// Calls that are subscriptions.
    subscriptions: usize,
}

impl<S: Table<Slot<InFlight>>, A: Table<Abandoned>> Calls<S, A> {
    pub(super) fn new(store: S, abandoned: A, limit: usize, ping: Option<PingPolicy>) -> Self {
        Self {
            sent: SentRequests::new(store, limit, Pinger::new(ping, Unwritten::Missed)),
            held: false,
            abandoned: AbandonedCalls::new(abandoned, limit),
            subscriptions: 0,
        }
    }

    /// The number of calls that are subscriptions.
    pub(super) const fn subscriptions(&self) -> usize {
        self.subscriptions
    }

    pub(super) fn get(&self, key: Key) -> Option<&InFlight> {
        self.sent.table.get(key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut InFlight> {
        self.sent.table.get_mut(key)
    }

    /// Takes in a call that is made now, under the next id.
    pub(super) fn insert(&mut self, now: Instant, call: InFlight) -> Result<Key, SendError> {
        let is_listen = call.kind == Kind::Listen;
        let key = self.sent.insert(now, call)?;
        self.subscriptions = self.subscriptions.saturating_add(usize::from(is_listen));
        Ok(key)
    }

    /// A call that is made again now, under the next id.
    pub(super) fn sent_again(&mut self, now: Instant, key: Key, timeout: Duration, progress: bool) {
        self.sent.table.unmark(Queue::Event, key);
        if let Some(call) = self.sent.table.get_mut(key) {
            call.stage = Stage::Sent;
        }
        self.sent.sent_again(now, key, timeout, progress);
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<InFlight> {
        let call = self.sent.table.remove(key)?;
        let is_listen = call.kind == Kind::Listen;
        self.subscriptions = self.subscriptions.saturating_sub(usize::from(is_listen));
        Some(call)
    }

    /// The application is asked to make the call again.
    pub(super) fn ask_again(&mut self, key: Key) {
        if let Some(call) = self.sent.table.get_mut(key) {
            call.stage = Stage::Again;
            let latest = call.sent.latest;
            self.sent.table.arm(key, Some(latest));
            self.sent.table.mark(Queue::Event, key);
        }
    }

    /// Ends a call with an event that is polled; `cancel` says whether the server is notified.
    pub(super) fn end(&mut self, key: Key, failure: Failure, cancel: bool) {
        if let Some(call) = self.sent.table.get_mut(key) {
            call.stage = Stage::Failed { failure, cancel };
            self.sent.table.arm(key, None);
            self.sent.table.mark(Queue::Event, key);
            if cancel {
                self.sent.table.mark(Queue::Transmit, key);
            }
        }
    }

    /// Abandons a call: no event of it follows, and the server is notified if it may still answer.
    pub(super) fn cancel(&mut self, key: Key) {
        let Some(call) = self.sent.table.get_mut(key) else {
            return;
        };
        let tell = match call.stage {
            Stage::Sent | Stage::Listening => true,
            Stage::Failed { cancel, .. } => cancel,
            Stage::Cancelled { .. } => return,
            Stage::Input | Stage::Pausing | Stage::Again | Stage::Held => false,
        };
        if !tell {
            self.remove(key);
            return;
        }
        call.stage = Stage::Cancelled { expired: false };
        self.sent.table.arm(key, None);
        self.sent.table.unmark(Queue::Event, key);
        self.sent.table.mark(Queue::Transmit, key);
    }

    /// Handles an answer to a call that is over: a cancellation of it that is still to leave has no
    /// use. Returns which results are reported; none if it was not abandoned, or answered before.
    pub(super) fn answered_late(&mut self, id: u64) -> LateResults {
        let key = self.sent.find_any(id);
        let owed = key.zip(key.and_then(|key| self.sent.table.get(key)));
        let owed = owed.filter(|(_, call)| call.is_cancellation_owed());
        let Some((key, results)) = owed.map(|(key, call)| (key, call.late_results())) else {
            return self.abandoned.take(id);
        };
        self.forget_cancellation(key);
        results
    }

    /// The first call whose cancellation is to leave.
    pub(super) fn cancelled(&self) -> Option<Key> {
        self.sent.table.first(Queue::Transmit)
    }

    /// The cancellation of a call has left.
    pub(super) fn cancellation_left(&mut self, key: Key) {
        if let Some(call) = self.sent.table.get(key) {
            self.abandoned.note(call.sent.id, call.late_results());
        }
        self.sent.table.unmark(Queue::Transmit, key);
        match self.sent.table.get_mut(key).map(|call| &mut call.stage) {
            // The application must still be notified.
            Some(Stage::Failed { cancel, .. }) => *cancel = false,
            _ => {
                self.remove(key);
            }
        }
    }

    fn forget_cancellation(&mut self, key: Key) {
        match self.sent.table.get_mut(key).map(|call| &mut call.stage) {
            Some(Stage::Failed { cancel, .. }) => {
                *cancel = false;
                self.sent.table.unmark(Queue::Transmit, key);
            }
            Some(Stage::Cancelled { .. }) => {
                self.remove(key);
            }
            _ => {}
        }
    }

    /// The next call with a pending event.
    pub(super) fn next_told(&mut self) -> Option<Key> {
        let key = self.sent.table.first(Queue::Event)?;
        self.sent.table.unmark(Queue::Event, key);
        Some(key)
    }

    pub(super) const fn is_held(&self) -> bool {
        self.held
    }

    pub(super) const fn set_held(&mut self, held: bool) {
        self.held = held;
    }

    /// Asks the application for the calls that waited for a session, unless they are held.
    pub(super) fn let_go(&mut self) {
        for index in 0..self.sent.table.capacity() as u32 {
            let Some(key) = self.sent.table.key(index) else {
                continue;
            };
            if let Some(call) = self.sent.table.get_mut(key)
                && call.stage == Stage::Held
                && (call.restores || !self.held)
            {
                call.stage = Stage::Again;
                self.sent.table.mark(Queue::Event, key);
            }
        }
    }

    /// Moves all calls to the session that takes the place of a lost one.
    pub(super) fn move_all(&mut self) {
        for index in 0..self.sent.table.capacity() as u32 {
            if let Some(key) = self.sent.table.key(index) {
                self.move_one(key);
            }
        }
    }

    fn move_one(&mut self, key: Key) {
        self.sent.table.unmark(Queue::Transmit, key);
        let Some(call) = self.sent.table.get_mut(key) else {
            return;
        };
        match &mut call.stage {
            Stage::Sent if call.moved => self.end(key, Failure::Session, false),
            Stage::Sent => {
                call.moved = true;
                call.stage = Stage::Held;
                let latest = call.sent.latest;
                self.sent.table.arm(key, Some(latest));
            }
            Stage::Again => {
                call.stage = Stage::Held;
                self.sent.table.unmark(Queue::Event, key);
            }
            Stage::Failed { cancel, .. } => *cancel = false,
            Stage::Cancelled { .. } => {
                self.remove(key);
            }
            Stage::Listening | Stage::Input | Stage::Pausing | Stage::Held => {}
        }
    }

    /// Ends all calls: the connection is over.
    pub(super) fn close(&mut self) {
        for index in 0..self.sent.table.capacity() as u32 {
            let Some(key) = self.sent.table.key(index) else {
                continue;
            };
            self.sent.table.arm(key, None);
            self.sent.table.unmark(Queue::Transmit, key);
            match self.sent.table.get_mut(key).map(|call| &mut call.stage) {
                Some(Stage::Cancelled { .. }) => {
                    self.remove(key);
                }
                Some(Stage::Failed { cancel, .. }) => *cancel = false,
                Some(stage) => {
                    *stage = Stage::Failed {
                        failure: Failure::Closed,
                        cancel: false,
                    };
                    self.sent.table.mark(Queue::Event, key);
                }
                None => {}
            }
        }
    }
}
