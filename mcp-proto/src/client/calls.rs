//! The table of calls that wait for an answer.

use core::time::Duration;

use super::abandoned::{Abandoned, AbandonedCalls, LateResults};
use super::call::{Failure, InFlight, Stage};
use super::{Event, Reply};
use crate::action::{Action, BufferFull, IgnoreReason};
use crate::json::Raw;
use crate::ping::{PingPolicy, Pinger, Unwritten};
use crate::rpc::ErrorObject;
use crate::sent::{Cancellation, SentRequests};
use crate::slots::{Key, Queue, SlotStore};
use crate::store::Store;
use crate::time::Instant;
use crate::token::MachineId;

/// The table of calls.
#[derive(Debug)]
pub(super) struct Calls<S, A> {
    pub(super) sent: SentRequests<InFlight, S>,
    /// Only what restores a session may be called.
    held: bool,
    abandoned: AbandonedCalls<A>,
}

impl<S: SlotStore<InFlight>, A: Store<Abandoned>> Calls<S, A> {
    pub(super) fn new(
        store: S,
        abandoned: A,
        limit: usize,
        ping: Option<PingPolicy>,
        machine: MachineId,
    ) -> Self {
        let pinger = Pinger::new(ping, Unwritten::Missed);
        Self {
            sent: SentRequests::new(store, limit, pinger, machine),
            held: false,
            abandoned: AbandonedCalls::new(abandoned, limit),
        }
    }

    pub(super) fn get(&self, key: Key) -> Option<&InFlight> {
        self.sent.table.get(key)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut InFlight> {
        self.sent.table.get_mut(key)
    }

    /// A call that is made again now, under the next id.
    pub(super) fn sent_again(&mut self, now: Instant, key: Key, timeout: Duration, progress: bool) {
        self.sent.table.unmark(Queue::Event, key);
        if let Some(call) = self.sent.table.get_mut(key) {
            call.stage = Stage::Sent;
        }
        self.sent.sent_again(now, key, timeout, progress);
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

    /// Ends the calls whose time is over, and asks for those whose pause is. Time passes for no call that is sent while the server
    /// has a question open.
    pub(super) fn handle_timeout(&mut self, now: Instant, is_asked: bool) {
        while let Some(key) = self.sent.table.pop_due(now) {
            let Some(call) = self.get(key) else {
                continue;
            };
            let (stage, latest) = (call.stage, call.sent.latest);
            let cancellation = match stage {
                Stage::Pausing if latest > now => {
                    self.ask_again(key);
                    continue;
                }
                Stage::Sent if is_asked && self.sent.extend(now, key) => continue,
                // LC-18: the caller is notified, and so is the server if it has received the request.
                Stage::Sent => Cancellation::OwedForTimeout,
                Stage::Pausing | Stage::Input | Stage::Again | Stage::Held => Cancellation::NotOwed,
                Stage::Listening => continue,
            };
            self.sent.end(key, cancellation, Failure::Timeout);
        }
    }

    /// Ends a call with its answer.
    pub(super) fn complete<'b>(
        &mut self,
        key: Key,
        outcome: Result<Raw<'b>, ErrorObject<'b>>,
    ) -> Action<Event<'b>, Reply<'b>> {
        match self.sent.remove(key) {
            Some(call) => Action::Event(Event::Answer {
                token: self.sent.token(key),
                cookie: call.sent.cookie,
                outcome,
            }),
            None => Action::Ignore(IgnoreReason::LateResponse),
        }
    }

    /// Ends a call that is not answered, or by something that is no answer.
    pub(super) fn fail<'b>(&mut self, key: Key, failure: Failure) -> Action<Event<'b>, Reply<'b>> {
        match self.sent.remove(key) {
            Some(call) => Action::Event(Event::Failed {
                token: self.sent.token(key),
                cookie: call.sent.cookie,
                failure,
            }),
            None => Action::Ignore(IgnoreReason::LateResponse),
        }
    }

    /// Handles an answer to a call that is over: a cancellation of it that is still to leave has no
    /// use. Returns which results are reported; none if it was not abandoned, or answered before.
    pub(super) fn answered_late(&mut self, id: u64) -> LateResults {
        let owed = self.sent.find_cancelled(id);
        let owed = owed.and_then(|key| Some((key, self.get(key)?.late_results())));
        let Some((key, results)) = owed else {
            return self.abandoned.take(id);
        };
        self.sent.forget_cancellation(key);
        results
    }

    /// Writes the first cancellation that is owed, if there is one.
    pub(super) fn write_cancellation(
        &mut self,
        out: &mut [u8],
    ) -> Result<Option<usize>, BufferFull> {
        let Some(key) = self.sent.next_cancelled() else {
            return Ok(None);
        };
        let call = self
            .get(key)
            .map(|call| (call.sent.id, call.late_results()));
        let len = self.sent.write_cancellation(key, out)?;
        if let Some((id, results)) = call {
            self.abandoned.note(id, results);
        }
        Ok(Some(len))
    }

    pub(super) const fn is_held(&self) -> bool {
        self.held
    }

    pub(super) const fn set_held(&mut self, held: bool) {
        self.held = held;
    }

    /// Asks the application for the calls that waited for a session, unless they are held.
    pub(super) fn let_go(&mut self) {
        let mut at = 0;
        while let Some(key) = self.sent.table.next_key(&mut at) {
            if let Some(call) = self.sent.table.get_mut(key)
                && call.stage == Stage::Held
                && !call.sent.is_over()
                && (call.restores || !self.held)
            {
                call.stage = Stage::Again;
                self.sent.table.mark(Queue::Event, key);
            }
        }
    }

    /// Moves all calls to the session that takes the place of a lost one.
    pub(super) fn move_all(&mut self) {
        let mut at = 0;
        while let Some(key) = self.sent.table.next_key(&mut at) {
            self.move_one(key);
        }
    }

    fn move_one(&mut self, key: Key) {
        let Some(call) = self.sent.table.get_mut(key) else {
            return;
        };
        match call.stage {
            _ if call.sent.is_over() => self.sent.forget_cancellation(key),
            Stage::Sent if call.moved => {
                self.sent.end(key, Cancellation::NotOwed, Failure::Session);
            }
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
            Stage::Listening | Stage::Input | Stage::Pausing | Stage::Held => {}
        }
    }
}
