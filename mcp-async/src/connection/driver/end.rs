//! The end of a connection: orderly or immediate.

use core::pin::Pin;
use core::task::Context;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::Instant;

use super::{Driver, Phase, Turn};
use crate::connection::{Respond, Role};

impl<R, W, X> Driver<R, W, X>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    X: Role,
{
    pub(super) fn end_of_input(&mut self, now: Instant) {
        self.inbox.close();
        self.drain(now);
    }

    fn drain(&mut self, now: Instant) {
        self.phase = Phase::Draining;
        self.ending_since.get_or_insert(now);
        self.deadline = Some(now + self.shutdown_timeout);
    }

    /// Enters the next phase when this one has nothing left to do or its time is over.
    pub(super) fn wind_down(&mut self, cx: &mut Context<'_>, turn: &mut Turn) -> bool {
        let over = self.deadline.is_some_and(|deadline| deadline <= turn.now);
        match self.phase {
            Phase::Open if turn.closing => self.drain(turn.now),
            Phase::Draining if self.is_drained(turn) => self.flush(turn.now),
            Phase::Draining if over && X::DRAINS => self.refuse(turn.now),
            Phase::Draining if over => self.flush(turn.now),
            Phase::Refusing if self.is_drained(turn) => self.flush(turn.now),
            // A message that was read, and could not be handled before, has begun a call.
            Phase::Refusing if turn.empty && self.is_idle() => self.calls.refuse_all(),
            Phase::Refusing if over => self.close(turn.now),
            Phase::Flushing if over || self.is_flushed(turn) => self.close(turn.now),
            Phase::Closing => {
                if !over && Pin::new(&mut self.writer).poll_close(cx).is_pending() {
                    return false;
                }
                self.phase = Phase::Done;
            }
            _ => return false,
        }
        true
    }

    /// Returns true if all received messages are answered.
    fn is_drained(&self, turn: &Turn) -> bool {
        turn.empty && !self.calls.has_pending_errors() && (self.calls.jobs.is_empty() || !X::DRAINS)
    }

    /// Returns true if calls run and no task waits for room.
    fn is_idle(&self) -> bool {
        !self.calls.jobs.is_empty() && !self.calls.shared.lock().is_waited_for()
    }

    /// Returns true if the transport has taken all messages.
    fn is_flushed(&self, turn: &Turn) -> bool {
        turn.empty && self.writing.is_empty() && !self.unflushed && !turn.write_pending
    }

    /// Answers what still runs with an error, as the peer makes room for it.
    fn refuse(&mut self, now: Instant) {
        self.calls.refuse_all();
        self.phase = Phase::Refusing;
        self.deadline = Some(now + self.shutdown_timeout);
    }

    /// Cancels the jobs that still run. Messages of the machine about their end are still written.
    pub(super) fn flush(&mut self, now: Instant) {
        self.calls.jobs.cancel_all();
        self.calls.shared.lock().machine.stop();
        self.phase = Phase::Flushing;
        self.deadline = Some(now + self.shutdown_timeout);
    }

    fn close(&mut self, now: Instant) {
        self.calls.jobs.cancel_all();
        self.phase = Phase::Closing;
        self.deadline = Some(now + self.shutdown_timeout);
    }
}

impl<R, W, X: Role> Driver<R, W, X> {
    /// Ends every request and wakes all waiting tasks.
    pub(super) fn finish(&mut self) {
        self.phase = Phase::Done;
        self.calls.end();
    }
}

impl<R, W, X: Role> Drop for Driver<R, W, X> {
    /// A dropped connection hangs up, so that no task waits for it.
    fn drop(&mut self) {
        if self.phase != Phase::Done {
            self.finish();
        }
    }
}
