//! State that the connection's future and its handles share: the machine and its output, behind one
//! short lock.

use core::task::{Context, Poll, ready};
use std::sync::{Arc, MutexGuard};

use mcp_proto::json::Raw;
use mcp_proto::{
    Channel, Conversation, Instant, Limits, Machine, NeedsBuffer, Outbox, Outcome, Outgoing as _,
    Receipt, SendError, SentToken, Token, Transmit, Written,
};

use super::driver_waker::DriverWaker;
use super::job::Answered;
use super::outbound::Outbound;
use super::pending_responses::PendingResponses;
use crate::call_outcome::CallOutcome;
use crate::error::ErrorReply;
use crate::observe::Transport;
use crate::runtime::RuntimeHandle;
use crate::scratch::with_scratch;
use crate::sync::{Lock, Waiters};

/// A machine whose requests are answered through a token: both roles.
pub(crate) trait Respond: Machine {
    /// The reason why a request of this side ended without an answer.
    type Failure;
    /// State that the side keeps in addition to its machine, under the same lock.
    type RoleState: RoleState;

    /// The destination of messages that leave in exchanges.
    type Outbound: Outbound;

    /// State of the connection that its handles read, such as the description of the peer.
    type PeerInfo: Default + Send + Sync;

    fn respond(
        &mut self,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError>;

    /// Writes progress of this request that has to leave before its answer, if there is any.
    fn flush(
        &mut self,
        now: Instant,
        token: Token,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        let _ = (now, token, out);
        Ok(None)
    }

    /// The answer to this request of ours is no longer awaited. No event of it follows.
    fn abandon(&mut self, token: SentToken);

    /// A result arrived, but the caller of its request is gone. `is_marked` says whether the request
    /// was [marked](super::PendingRequest::mark).
    fn unclaimed(shared: &Shared<Self>, result: Raw<'_>, is_marked: bool)
    where
        Self: Sized,
    {
        let _ = (shared, result, is_marked);
    }

    /// Nothing more comes from the peer, and what still runs has had its time: ends all of it,
    /// so far as the peer can still be told.
    fn stop(&mut self);
}

/// State of one side of the protocol about requests that the machine does not keep.
pub(crate) trait RoleState: Default {
    /// The state of one request; dropped outside of the lock.
    type Ended;

    /// The request is over.
    fn forget(&mut self, token: Token) -> Option<Self::Ended>;

    /// The connection is over: moves out the wakers of all waiting tasks.
    fn end(&mut self, waiting: &mut Waiters);
}

/// Of a side that knows no more than its machine.
#[derive(Default)]
pub(crate) struct Nothing;

impl RoleState for Nothing {
    type Ended = Self;

    fn forget(&mut self, _: Token) -> Option<Self> {
        None
    }

    fn end(&mut self, _: &mut Waiters) {}
}

/// One connection. The lock is held for one step of the machine or one message written, never
/// while a future of a user is polled or dropped, a callback runs or a transport is asked.
pub(crate) struct Shared<M: Respond> {
    pub(crate) driver_waker: Arc<DriverWaker>,
    pub(crate) peer_info: M::PeerInfo,
    pub(crate) transport: Transport,
    pub(crate) runtime: RuntimeHandle,
    /// The most that an outbox holds.
    output: usize,
    core: Lock<Core<M>>,
}

pub(crate) struct Core<M: Respond> {
    pub(crate) machine: M,
    pub(crate) outbox: Outbox<Vec<u8>>,
    /// Of the message that was put last.
    receipt: Option<Receipt>,
    /// The requests of this side that wait for their answers, and the answers that have arrived.
    pub(crate) responses: PendingResponses<M::Failure>,
    pub(crate) role_state: M::RoleState,
    /// Tasks that wait until there is room in the outbox.
    room: Waiters,
    /// Tasks that wait for a change of the connection: ready, over, a call cancelled.
    watchers: Waiters,
    /// A handle asked for the end.
    pub(crate) closing: bool,
    /// The connection's future has ended; nothing is written any more.
    pub(crate) ended: bool,
    /// Handles that keep the connection open.
    pub(crate) handles: usize,
    /// The time at which the last turn began.
    pub(crate) now: Instant,
    /// The destination of messages; without one they stay in the outbox, which the driver of a pipe writes. Boxed, so
    /// that `Shared` is small enough for the quick allocations of common allocators.
    pub(crate) outbound: Option<Box<M::Outbound>>,
}

impl<M: Respond> Shared<M> {
    pub(crate) fn new(
        machine: M,
        limits: &Limits,
        runtime: RuntimeHandle,
        transport: Transport,
        outbound: Option<Box<M::Outbound>>,
    ) -> Arc<Self> {
        let output = limits
            .output
            .saturating_add(machine.reserve() + 2 * FRAMING);
        let now = runtime.now();
        Arc::new(Self {
            core: Lock::new(Core {
                machine,
                outbox: outbox(output),
                receipt: None,
                responses: PendingResponses::default(),
                role_state: M::RoleState::default(),
                room: Waiters::new(),
                watchers: Waiters::new(),
                closing: false,
                ended: false,
                handles: 0,
                now,
                outbound,
            }),
            driver_waker: DriverWaker::new(),
            peer_info: M::PeerInfo::default(),
            transport,
            runtime,
            output,
        })
    }

    pub(crate) fn now(&self) -> Instant {
        self.runtime.now()
    }

    /// An empty outbox like the one under the lock, to take turns with it.
    pub(crate) fn outbox(&self) -> Outbox<Vec<u8>> {
        outbox(self.output)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core<M>> {
        // A payload's `Serialize` may panic while its message is being written: the machine
        // changes its state only after the bytes, so there is nothing half-done to fear.
        self.core.lock()
    }

    /// Writes one message of a command, or registers the task for when there is room. Where a
    /// store takes messages before they are read, it is reported when the store has it: until
    /// then the caller keeps its receipt from poll to poll.
    ///
    /// # Errors
    /// Errors of the machine; [`SendError::BufferFull`] only for a message that can never fit.
    pub(crate) fn poll_tell<T: Written>(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        on: Channel,
        write: impl FnMut(&mut M, Instant, &mut [u8]) -> Result<T, SendError>,
    ) -> Poll<Result<(), SendError>> {
        if let Some(receipt) = *receipt {
            return self.lock().poll_stored(cx, receipt);
        }
        let now = self.now();
        let told = {
            let mut core = self.lock();
            let sent = core.poll_send(now, cx, on, write);
            core.poll_told(cx, receipt, sent)
        };
        if receipt.is_some() || matches!(told, Poll::Ready(Ok(()))) {
            self.driver_waker.wake();
        }
        told
    }

    /// A command that needs no room, such as a cancellation; its message follows from state.
    pub(crate) fn command<T>(&self, command: impl FnOnce(&mut M, Instant) -> T) -> T {
        let now = self.now();
        let done = command(&mut self.lock().machine, now);
        self.driver_waker.wake();
        done
    }

    /// Asks the connection to end.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.driver_waker.wake();
    }

    /// Answers a request, when there is room for it. It is over then in any case: an answer
    /// that cannot be written becomes the internal error. `reports` says whether the call may have reported
    /// progress.
    pub(crate) fn poll_respond(
        &self,
        cx: &mut Context<'_>,
        on: Channel,
        token: Token,
        reports: bool,
        outcome: Outcome<'_>,
    ) -> Poll<Answered> {
        let mut has_flushed = false;
        let answered = {
            let core = &mut *self.lock();
            let answered = core.poll_answer(cx, on, token, reports, outcome, &mut has_flushed);
            answered.map(|end| {
                let kept = core.role_state.forget(token);
                (end, core.watchers.take(), kept)
            })
        };
        // The job may be polled by another task, also while its answer waits for room.
        if has_flushed || answered.is_ready() {
            self.driver_waker.wake();
        }
        answered.map(|(end, watchers, _kept)| {
            watchers.wake();
            Answered::new(token, end)
        })
    }

    pub(crate) fn wake_watchers(&self) {
        let watchers = core::mem::take(&mut self.lock().watchers);
        watchers.wake();
    }
}

impl<M: Respond> Core<M> {
    /// Writes the answer to a request, after progress that was held back: then `has_flushed` is set.
    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        on: Channel,
        token: Token,
        reports: bool,
        outcome: Outcome<'_>,
        has_flushed: &mut bool,
    ) -> Poll<CallOutcome> {
        // The time of the last turn will do: an answer has no deadline.
        let now = self.now;
        let end = CallOutcome::of(&outcome);
        let respond = |outcome| {
            move |machine: &mut M, _, out: &mut [u8]| machine.respond(token, outcome, out)
        };
        if reports {
            let flush = |machine: &mut M, now, out: &mut [u8]| machine.flush(now, token, out);
            // Messages that cannot be written are lost; the answer follows in any case.
            let flushed = ready!(self.poll_send(now, cx, on, flush));
            *has_flushed = matches!(flushed, Ok(Some(_)));
        }
        let Err(error) = ready!(self.poll_send(now, cx, on, respond(outcome))) else {
            return Poll::Ready(end);
        };
        let end = CallOutcome::unsent(error);
        if end != CallOutcome::Cancelled {
            let error = ErrorReply::internal();
            let outcome = Outcome::Error(error.as_object());
            // Whatever this meets, there is nothing more that could be said.
            let _ = ready!(self.poll_send(now, cx, on, respond(outcome)));
        }
        Poll::Ready(end)
    }

    pub(crate) fn poll_send<T: Written>(
        &mut self,
        now: Instant,
        cx: &mut Context<'_>,
        on: Channel,
        mut write: impl FnMut(&mut M, Instant, &mut [u8]) -> Result<T, SendError>,
    ) -> Poll<Result<T, SendError>> {
        if self.ended {
            return Poll::Ready(Err(SendError::Closed));
        }
        if let Some(outbound) = &self.outbound {
            if !outbound.has_room(on) {
                self.room.register(cx);
                return Poll::Pending;
            }
            return Poll::Ready(self.put(|machine, out| write(machine, now, out)));
        }
        let Self {
            machine, outbox, ..
        } = self;
        // The core keeps room for an answer of its own, whatever the application sends: else a
        // full output would stop the reading that empties it.
        let kept = machine.reserve() + FRAMING;
        let sent = outbox.put(|out| {
            let len = out.len().saturating_sub(kept);
            let out = out.get_mut(..len).unwrap_or_default();
            let mut sent = write(machine, now, out);
            if let Err(SendError::BufferFull { needed }) = &mut sent {
                *needed = needed.saturating_add(kept);
            }
            sent
        });
        if matches!(sent, Err(SendError::BufferFull { .. })) && !self.outbox.is_empty() {
            self.room.register(cx);
            return Poll::Pending;
        }
        Poll::Ready(sent)
    }

    /// Lets the machine write one message, which goes where it belongs: it stays in the outbox,
    /// or a channel takes it at once.
    pub(crate) fn put<T: Written, E: NeedsBuffer>(
        &mut self,
        mut write: impl FnMut(&mut M, &mut [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(put) = self.converse(|conversation| conversation.put(&mut write)) {
            let (written, receipt) = put?;
            self.receipt = receipt;
            return Ok(written);
        }
        let Self {
            machine, outbox, ..
        } = self;
        outbox.put(|out| write(machine, out))
    }

    /// Works with the machine and the destination of its messages, if that is no pipe. Each message is written in the
    /// scratch buffer of the thread, from which its destination takes it.
    pub(crate) fn converse<T>(
        &mut self,
        work: impl FnOnce(&mut Conversation<'_, M, M::Outbound, Vec<u8>>) -> T,
    ) -> Option<T> {
        let outgoing = self.outbound.as_mut()?;
        let (machine, outbox) = (&mut self.machine, &mut self.outbox);
        Some(with_scratch(|scratch| {
            scratch.truncate(outbox.max_message().saturating_add(1));
            outbox.swap_store(scratch);
            let result = work(&mut Conversation {
                machine,
                outgoing,
                outbox: &mut *outbox,
            });
            outbox.swap_store(scratch);
            result
        }))
    }

    /// A message that was just sent is reported once the store has it, if there is one.
    pub(crate) fn poll_told<T>(
        &mut self,
        cx: &Context<'_>,
        receipt: &mut Option<Receipt>,
        sent: Poll<Result<T, SendError>>,
    ) -> Poll<Result<(), SendError>> {
        ready!(sent)?;
        *receipt = self.receipt.take();
        match *receipt {
            Some(receipt) => self.poll_stored(cx, receipt),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Ready when a store has this message, or when it does not matter any more.
    pub(crate) fn poll_stored(
        &mut self,
        cx: &Context<'_>,
        receipt: Receipt,
    ) -> Poll<Result<(), SendError>> {
        if self.ended {
            return Poll::Ready(Ok(()));
        }
        match &mut self.outbound {
            Some(outbound) => outbound.poll_stored(cx, receipt).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Wakes the task at the next change of the connection.
    pub(crate) fn watch(&mut self, cx: &Context<'_>) {
        self.watchers.register(cx);
    }

    /// Ready when nothing waits to be written.
    pub(crate) fn poll_empty(&mut self, cx: &Context<'_>) -> Poll<()> {
        let is_empty = self.outbox.is_empty() && self.machine.next_channel().is_none();
        if self.ended || is_empty {
            return Poll::Ready(());
        }
        self.room.register(cx);
        Poll::Pending
    }

    pub(crate) const fn is_waited_for(&self) -> bool {
        !self.room.is_empty()
    }

    /// The connection's future is over: nothing is sent any more, and nothing comes. Returns
    /// the tasks to wake.
    pub(crate) fn end(&mut self) -> Waiters {
        self.ended = true;
        let mut waiting = self.take_room();
        waiting.append(&mut self.watchers);
        self.responses.end(&mut waiting);
        self.role_state.end(&mut waiting);
        waiting
    }

    /// Tasks to wake because the outbox was emptied.
    pub(crate) fn take_room(&mut self) -> Waiters {
        self.room.take()
    }
}

fn outbox(output: usize) -> Outbox<Vec<u8>> {
    let limits = Limits {
        output,
        ..Limits::default()
    };
    Outbox::new(Vec::new(), &limits)
}

/// The newline of a message.
const FRAMING: usize = 1;
