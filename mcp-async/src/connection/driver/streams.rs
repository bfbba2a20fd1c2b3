//! Reads and writes the byte streams.

use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::Instant;

use super::{Driver, Phase, Turn, is_closed};
use crate::connection::Role;

impl<R, W, X> Driver<R, W, X>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    X: Role,
{
    /// Writes until the transport takes no more, or there is nothing left.
    pub(super) fn write(&mut self, cx: &mut Context<'_>, turn: &mut Turn) -> io::Result<bool> {
        let mut moved = false;
        // A peer that reads slowly receives everything: the time of an answer that waits for room
        // is not its handler's.
        let waits = match self.phase {
            Phase::Draining => {
                self.calls.has_pending_errors() || self.calls.shared.lock().is_waited_for()
            }
            Phase::Refusing | Phase::Flushing => true,
            _ => false,
        };
        while !turn.write_pending && self.phase < Phase::Closing {
            if self.writing.is_empty() && !self.take_output(turn) {
                if self.unflushed {
                    match Pin::new(&mut self.writer).poll_flush(cx)? {
                        Poll::Ready(()) => self.unflushed = false,
                        Poll::Pending => turn.write_pending = true,
                    }
                }
                break;
            }
            match Pin::new(&mut self.writer).poll_write(cx, self.writing.pending()) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => {
                    self.writing.consume(count);
                    if self.writing.is_empty() && self.writing.capacity() > KEPT {
                        self.keep_large(turn.now);
                    }
                    self.unflushed = true;
                    moved = true;
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => turn.write_pending = true,
            }
        }
        if moved && waits {
            self.deadline = Some(turn.now + self.shutdown_timeout);
        }
        Ok(moved)
    }

    /// A large message has come or leaves: the next one may need its buffers.
    fn keep_large_from(&mut self, now: Instant) {
        self.large_until = Some(now + LARGE_FOR);
    }

    /// The large outbox that was written is the next one to be filled, while large messages come: to obtain so much
    /// memory anew for each of them costs more than to fill it. There is one of them at a time.
    fn keep_large(&mut self, now: Instant) {
        let mut core = self.calls.shared.lock();
        let is_spare = core.outbox.is_empty() && core.outbox.capacity() <= KEPT;
        match is_spare && self.large_until.is_some_and(|until| now < until) {
            true => core::mem::swap(&mut core.outbox, &mut self.writing),
            false => self.writing = self.calls.shared.outbox(),
        }
    }

    /// Gives large buffers back, if no large message came or left for some time.
    pub(super) fn give_back(&mut self, now: Instant) {
        if self.large_until.is_none_or(|until| now < until) {
            return;
        }
        self.inbox.shrink_to(KEPT);
        self.large_until = None;
        if self.inbox.capacity() > KEPT {
            // Messages wait in it.
            self.keep_large_from(now);
        }
        let mut core = self.calls.shared.lock();
        if core.outbox.is_empty() && core.outbox.capacity() > KEPT {
            core.outbox = self.calls.shared.outbox();
        }
    }

    /// Swaps the two outboxes, and tells those who wait that there is room.
    fn take_output(&mut self, turn: &mut Turn) -> bool {
        // At the end of the connection, tasks that waited for room may write until the last look.
        if !core::mem::take(&mut turn.has_output) && self.phase == Phase::Open {
            return false;
        }
        let waiting = {
            let mut core = self.calls.shared.lock();
            if core.outbox.is_empty() {
                return false;
            }
            core::mem::swap(&mut core.outbox, &mut self.writing);
            core.take_room()
        };
        if self.writing.pending().len() > KEPT {
            self.keep_large_from(turn.now);
        }
        waiting.wake();
        turn.changed |= self.full;
        true
    }

    /// Reads once, if there is a use for it.
    pub(super) fn read(&mut self, cx: &mut Context<'_>, turn: &mut Turn) -> io::Result<bool> {
        if turn.read_pending || self.full || turn.budget == 0 || self.phase != Phase::Open {
            return Ok(false);
        }
        let Some(spare) = self.inbox.spare_mut() else {
            return Ok(false);
        };
        match Pin::new(&mut self.reader).poll_read(cx, spare) {
            Poll::Ready(Ok(0)) => self.end_of_input(turn.now),
            Poll::Ready(Ok(count)) => {
                let more = count == spare.len();
                self.inbox.filled(count);
                if self.large_until.is_none() && self.inbox.capacity() > KEPT {
                    self.keep_large_from(turn.now);
                }
                if more && self.inbox.capacity() < READ {
                    self.inbox.widen();
                }
            }
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Poll::Ready(Err(error)) if is_closed(&error) => self.end_of_input(turn.now),
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => {
                turn.read_pending = true;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The size to which the input buffer grows for a peer that sends faster than it is read: a hundred
/// ordinary messages, so that a system call costs each of them little. An idle connection stays at
/// the core's first size.
const READ: usize = 16 << 10;

/// A buffer that has grown past this is given back, some time after it was needed.
const KEPT: usize = 256 << 10;

/// The time for which large buffers are kept after a large message.
const LARGE_FOR: Duration = Duration::from_secs(1);
