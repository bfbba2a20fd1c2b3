//! One request of ours, from the first attempt to send it until its asker is gone.

use core::task::{Context, Poll};

use mcp_proto::json::RawBuf;
use mcp_proto::{Instant, SendError, Token, Transmit};

use crate::places::Arrival;
use crate::shared::{Respond, Shared};

/// Holds a place for the answer; dropping it tells the machine that nobody waits.
pub(crate) struct Seat<'a, M: Respond> {
    shared: &'a Shared<M>,
    place: Option<u32>,
    /// Set while the machine knows the request.
    token: Option<Token>,
}

impl<'a, M: Respond> Seat<'a, M> {
    pub(crate) const fn new(shared: &'a Shared<M>) -> Self {
        Self {
            shared,
            place: None,
            token: None,
        }
    }

    /// The request in the machine's table.
    pub(crate) const fn token(&self) -> Option<Token> {
        self.token
    }

    /// Sends the request, or one more round of it; `write` gets the cookie to send along.
    /// After [`SendError::NotReady`] the task is woken at the next change of the connection.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        tag: u64,
        mut write: impl FnMut(&mut M, Instant, u64, &mut [u8]) -> Result<(Token, Transmit), SendError>,
    ) -> Poll<Result<(), SendError>> {
        let now = self.shared.now();
        let sent = {
            let mut core = self.shared.lock();
            let place = match self.place {
                Some(place) => place,
                None => *self.place.insert(core.places.take(tag)),
            };
            let sent = core.poll_send(now, cx, |machine, now, out| {
                write(machine, now, u64::from(place), out)
            });
            if matches!(sent, Poll::Ready(Err(SendError::NotReady))) {
                core.watch(cx);
            }
            sent
        };
        sent.map_ok(|(token, _)| {
            self.token = Some(token);
            self.shared.alarm.ring();
        })
    }

    /// What is new about the request; `None` when the connection is over and there is nothing.
    pub(crate) fn poll_arrival(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<(Arrival<M::Failure>, RawBuf)>> {
        let Some(place) = self.place else {
            return Poll::Ready(None);
        };
        let mut core = self.shared.lock();
        let Some(arrived) = core.places.collect(place, cx) else {
            return if core.ended {
                Poll::Ready(None)
            } else {
                Poll::Pending
            };
        };
        if !matches!(arrived.0, Arrival::Input { .. } | Arrival::Again) {
            self.token = None;
        }
        Poll::Ready(Some(arrived))
    }

    /// Gives the place back, with the buffer that the answer came in.
    pub(crate) fn leave(&mut self, buffer: Option<RawBuf>) {
        let Some(place) = self.place.take() else {
            return;
        };
        let token = self.token.take();
        // The waker is dropped outside the lock: it is a user's.
        let _waker = {
            let mut core = self.shared.lock();
            if let Some(token) = token {
                core.machine.abandon(token);
            }
            core.places.give_back(place, buffer)
        };
        if token.is_some() {
            self.shared.alarm.ring();
        }
    }
}

impl<M: Respond> Drop for Seat<'_, M> {
    fn drop(&mut self) {
        self.leave(None);
    }
}
