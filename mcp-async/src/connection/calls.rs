//! The calls of one connection, from the machine's event to the answer, whatever carries the
//! messages.

use core::ops::ControlFlow;
use std::sync::Arc;

use mcp_proto::rpc::code;
use mcp_proto::{Instant, Machine, Outcome, SendError, Token};

use super::frame::Frame;
use super::job::{Job, Jobs, Polled, discard};
use super::shared::{Respond, Shared};
use crate::error::ErrorReply;
use crate::observe;

/// A role, its jobs, and what they share with their handles.
pub(crate) struct Calls<X: Role> {
    pub(crate) jobs: Jobs,
    /// Requests whose handler panicked or took too long, and that still wait for room for their
    /// error.
    pending_errors: Vec<(Token, ErrorReply)>,
    pub(crate) role: X,
    pub(crate) shared: Arc<Shared<X::Machine>>,
}

/// One side of the protocol, which handles the events of its machine.
pub(crate) trait Role {
    type Machine: Respond;

    /// True if messages are left unread while finished answers wait for room: a server's
    /// memory is then bounded by what its peer reads. A client continues to read, because
    /// two full pipes would otherwise wait for each other.
    const WAITS_FOR_READER: bool;

    /// True if jobs may finish after the input ended.
    const DRAINS: bool;

    /// Takes an event, without any lock held.
    fn dispatch(
        &mut self,
        shared: &Arc<Shared<Self::Machine>>,
        event: &<Self::Machine as Machine>::Event<'_>,
        frame: Frame<'_>,
    ) -> Effect;

    /// The connection is over, and no lock is held.
    fn ended(&mut self, shared: &Shared<Self::Machine>) {
        let _ = shared;
    }
}

/// The effect of an event, for the driver to carry out.
pub(crate) enum Effect {
    Nothing,
    Start(Token, Job),
    Cancel(Token),
    /// The handler panicked before there was a job.
    Panicked(Token),
    /// The machine has given the connection up.
    Close,
}

impl<X: Role> Calls<X> {
    pub(crate) fn new(role: X, shared: Arc<Shared<X::Machine>>) -> Self {
        Self {
            jobs: Jobs::new(Arc::clone(&shared.driver_waker)),
            pending_errors: Vec::new(),
            role,
            shared,
        }
    }

    /// Drops the jobs that have had their time. Returns true if there were any.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        let before = self.pending_errors.len();
        while let Some((token, timeout)) = self.jobs.expire(now) {
            observe::expired(timeout);
            let text = format!("The call took longer than {} ms", timeout.as_millis());
            self.pending_errors
                .push((token, ErrorReply::new(code::INTERNAL_ERROR, text)));
        }
        self.pending_errors.len() > before
    }

    /// Polls the next job that was woken; whether there was one.
    pub(crate) fn poll_woken(&mut self) -> bool {
        let Some(polled) = self.jobs.poll_woken() else {
            return false;
        };
        self.settle(polled);
        true
    }

    /// Hands an event to the role, without any lock held.
    pub(crate) fn dispatch(&mut self, event: &Event<'_, X>, frame: Frame<'_>) -> Effect {
        self.role.dispatch(&self.shared, event, frame)
    }

    /// Does what an event asks for; breaks if that is the end of the connection.
    pub(crate) fn carry_out(&mut self, effect: Effect, now: Instant) -> ControlFlow<()> {
        match effect {
            Effect::Nothing => {}
            Effect::Start(token, job) => {
                let polled = self.jobs.start(token, job, now);
                self.settle(polled);
            }
            Effect::Cancel(token) => {
                self.jobs.cancel(token);
                self.shared.wake_watchers();
            }
            Effect::Panicked(token) => self.settle(Polled::Unanswered(token)),
            Effect::Close => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Answers the requests whose handlers did not; `false` if there is no room for it.
    pub(crate) fn flush_errors(&mut self) -> bool {
        while let Some((token, error)) = self.pending_errors.last() {
            {
                let core = &mut *self.shared.lock();
                let outcome = Outcome::Error(error.as_object());
                let paid = core.put(|machine, out| machine.respond(*token, outcome, out));
                if matches!(paid, Err(SendError::BufferFull { .. })) && !core.outbox.is_empty() {
                    return false;
                }
            }
            self.pending_errors.pop();
            // A future that the handler left to another task learns that its call is over.
            self.shared.wake_watchers();
        }
        true
    }

    /// Drops what still runs at the end of the connection, and owes each of its requests an error.
    pub(crate) fn refuse_all(&mut self) {
        let Self {
            jobs,
            pending_errors,
            ..
        } = self;
        let first = pending_errors.len();
        jobs.take_all(|token| pending_errors.push((token, ErrorReply::shutting_down())));
        // The last is paid first.
        if let Some(new) = pending_errors.get_mut(first..) {
            new.reverse();
        }
    }

    /// Returns true if an error still waits for room.
    pub(crate) const fn has_pending_errors(&self) -> bool {
        !self.pending_errors.is_empty()
    }

    /// The connection is over: ends every request and wakes all waiting tasks.
    pub(crate) fn end(&mut self) {
        self.jobs.cancel_all();
        let waiting = loop {
            let event = {
                let core = &mut *self.shared.lock();
                core.machine.hang_up();
                let event = core.machine.poll_event();
                if event.is_none() {
                    break core.end();
                }
                event
            };
            if let Some(event) = &event
                && let Effect::Start(_, job) = self.dispatch(event, None)
            {
                discard(job);
            }
        };
        waiting.wake();
        self.role.ended(&self.shared);
    }

    fn settle(&mut self, polled: Polled) {
        if let Polled::Unanswered(token) = polled {
            self.pending_errors.push((token, ErrorReply::internal()));
        }
    }
}

pub(crate) type Event<'b, X> = <<X as Role>::Machine as Machine>::Event<'b>;
