//! The table of calls that wait for an answer.

use super::abandoned::{Abandoned, AbandonedCalls, LateResults};
use super::call::{Failure, InFlight, Kind, Stage};
use crate::action::SendError;
use crate::slots::{Key, Queue, Slot, Slots};
use crate::store::Table;
use crate::time::Instant;

/// The table of calls, and the ids of our requests.
#[derive(Debug)]
pub(super) struct Calls<S, A> {
    table: Slots<InFlight, S>,
    /// Ids of our requests count up, so that none is ever used twice (JR-05).
    next_id: u64,
    /// Only what restores a session may be called.
    held: bool,
    abandoned: AbandonedCalls<A>,
    /// Calls that are subscriptions.
    subscriptions: usize,
}

impl<S: Table<Slot<InFlight>>, A: Table<Abandoned>> Calls<S, A> {
    pub(super) fn new(store: S, abandoned: A, limit: usize) -> Self {
        Self {
            table: Slots::new(store, limit),
            next_id: 1,
            held: false,
            abandoned: AbandonedCalls::new(abandoned, limit),
            subscriptions: 0,
        }
    }

    /// The id of our next request, which is used once its bytes fit.
    pub(super) const fn next_id(&self) -> u64 {
        self.next_id
    }

    pub(super) const fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        id
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// The most calls in flight.
    pub(super) fn most(&self) -> usize {
        self.table.most()
    }

    /// The number of calls that are subscriptions.
    pub(super) const fn subscriptions(&self) -> usize {
        self.subscriptions
    }

    pub(super) fn get(&self, key: Key) -> Option<&InFlight> {
        self.table.get(key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut InFlight> {
        self.table.get_mut(key)
    }

    /// Takes in a call that is made now, under the next id.
    pub(super) fn insert(&mut self, now: Instant, call: InFlight) -> Result<Key, SendError> {
        let deadline = (now + call.timeout).min(call.latest);
        let is_listen = call.kind == Kind::Listen;
        let key = self
            .table
            .insert(call.id as u32, call)
            .map_err(|_| SendError::TableFull)?;
        self.subscriptions = self.subscriptions.saturating_add(usize::from(is_listen));
        self.table.arm(key, Some(deadline));
        self.take_id();
        Ok(key)
    }

    /// A call that is made again now, under the next id.
    pub(super) fn sent_again(&mut self, now: Instant, key: Key) {
        let id = self.take_id();
        self.table.unmark(Queue::Event, key);
        self.table.rename(key, id as u32);
        if let Some(call) = self.table.get_mut(key) {
            call.id = id;
            call.stage = Stage::Sent;
            let deadline = (now + call.timeout).min(call.latest);
            self.table.arm(key, Some(deadline));
        }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<InFlight> {
        let call = self.table.remove(key)?;
        let is_listen = call.kind == Kind::Listen;
        self.subscriptions = self.subscriptions.saturating_sub(usize::from(is_listen));
        Some(call)
    }

    /// The call that the server may still answer under this id.
    pub(super) fn find(&self, id: u64) -> Option<Key> {
        self.table
            .find(id as u32, |call| call.id == id && call.is_on_the_wire())
    }

    pub(super) fn arm(&mut self, key: Key, deadline: Option<Instant>) {
        self.table.arm(key, deadline);
    }

    /// Whether the call has a deadline.
    pub(super) fn is_armed(&self, key: Key) -> bool {
        self.table.deadline(key).is_some()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.table.next_deadline()
    }

    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Key> {
        self.table.pop_due(now)
    }

    /// Gives the call its time again; whether that is ahead.
    pub(super) fn extend(&mut self, now: Instant, key: Key) -> bool {
        let Some(call) = self.table.get(key) else {
            return false;
        };
        let deadline = (now + call.timeout.max(LEAST)).min(call.latest);
        let ahead = deadline > now;
        if ahead {
            self.table.arm(key, Some(deadline));
        }
        ahead
    }

    /// The application is asked to make the call again.
    pub(super) fn ask_again(&mut self, key: Key) {
        if let Some(call) = self.table.get_mut(key) {
            call.stage = Stage::Again;
            let latest = call.latest;
            self.table.arm(key, Some(latest));
            self.table.mark(Queue::Event, key);
        }
    }

    /// Ends a call with an event that is polled; `cancel` says whether the server is notified.
    pub(super) fn end(&mut self, key: Key, failure: Failure, cancel: bool) {
        if let Some(call) = self.table.get_mut(key) {
            call.stage = Stage::Failed { failure, cancel };
            self.table.arm(key, None);
            self.table.mark(Queue::Event, key);
            if cancel {
                self.table.mark(Queue::Transmit, key);
            }
        }
    }

    /// Abandons a call: no event of it follows, and the server is notified if it may still answer.
    pub(super) fn cancel(&mut self, key: Key) {
        let Some(call) = self.table.get_mut(key) else {
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
        self.table.arm(key, None);
        self.table.unmark(Queue::Event, key);
        self.table.mark(Queue::Transmit, key);
    }

    /// Handles an answer to a call that is over: a cancellation of it that is still to leave has no
    /// use. Returns which results are reported; none if it was not abandoned, or answered before.
    pub(super) fn answered_late(&mut self, id: u64) -> LateResults {
        let key = self.table.find(id as u32, |call| call.id == id);
        let owed = key.zip(key.and_then(|key| self.table.get(key)));
        let owed = owed.filter(|(_, call)| call.is_cancellation_owed());
        let Some((key, results)) = owed.map(|(key, call)| (key, call.late_results())) else {
            return self.abandoned.take(id);
        };
        self.forget_cancellation(key);
        results
    }

    /// The first call whose cancellation is to leave.
    pub(super) fn cancelled(&self) -> Option<Key> {
        self.table.first(Queue::Transmit)
    }

    /// The cancellation of a call has left.
    pub(super) fn cancellation_left(&mut self, key: Key) {
        if let Some(call) = self.table.get(key) {
            self.abandoned.note(call.id, call.late_results());
        }
        self.table.unmark(Queue::Transmit, key);
        match self.table.get_mut(key).map(|call| &mut call.stage) {
            // The application must still be notified.
            Some(Stage::Failed { cancel, .. }) => *cancel = false,
            _ => {
                self.remove(key);
            }
        }
    }

    fn forget_cancellation(&mut self, key: Key) {
        match self.table.get_mut(key).map(|call| &mut call.stage) {
            Some(Stage::Failed { cancel, .. }) => {
                *cancel = false;
                self.table.unmark(Queue::Transmit, key);
            }
            Some(Stage::Cancelled { .. }) => {
                self.remove(key);
            }
            _ => {}
        }
    }

    /// The next call with a pending event.
    pub(super) fn next_told(&mut self) -> Option<Key> {
        let key = self.table.first(Queue::Event)?;
        self.table.unmark(Queue::Event, key);
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
        for index in 0..self.table.capacity() as u32 {
            let Some(key) = self.table.key(index) else {
                continue;
            };
            if let Some(call) = self.table.get_mut(key)
                && call.stage == Stage::Held
                && (call.restores || !self.held)
            {
                call.stage = Stage::Again;
                self.table.mark(Queue::Event, key);
            }
        }
    }

    /// Moves all calls to the session that takes the place of a lost one.
    pub(super) fn move_all(&mut self) {
        for index in 0..self.table.capacity() as u32 {
            if let Some(key) = self.table.key(index) {
                self.move_one(key);
            }
        }
    }

    fn move_one(&mut self, key: Key) {
        self.table.unmark(Queue::Transmit, key);
        let Some(call) = self.table.get_mut(key) else {
            return;
        };
        match &mut call.stage {
            Stage::Sent if call.moved => self.end(key, Failure::Session, false),
            Stage::Sent => {
                call.moved = true;
                call.stage = Stage::Held;
                let latest = call.latest;
                self.table.arm(key, Some(latest));
            }
            Stage::Again => {
                call.stage = Stage::Held;
                self.table.unmark(Queue::Event, key);
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
        for index in 0..self.table.capacity() as u32 {
            let Some(key) = self.table.key(index) else {
                continue;
            };
            self.table.arm(key, None);
            self.table.unmark(Queue::Transmit, key);
            match self.table.get_mut(key).map(|call| &mut call.stage) {
                Some(Stage::Cancelled { .. }) => {
                    self.remove(key);
                }
                Some(Stage::Failed { cancel, .. }) => *cancel = false,
                Some(stage) => {
                    *stage = Stage::Failed {
                        failure: Failure::Closed,
                        cancel: false,
                    };
                    self.table.mark(Queue::Event, key);
                }
                None => {}
            }
        }
    }
}

/// A deadline that is due now would be due again at once.
const LEAST: core::time::Duration = core::time::Duration::from_millis(1);
