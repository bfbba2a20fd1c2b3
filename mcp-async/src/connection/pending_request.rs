//! One own request, from the first attempt to send it until its caller is gone.

use core::task::{Context, Poll};

use std::sync::{Arc, MutexGuard};

use mcp_proto::json::RawBuf;
use mcp_proto::{Channel, Instant, SendError, SentToken, Transmit};

use super::pending_responses::{Arrival, is_marked};
use super::progress::{Progress, ReceivedProgress};
use super::shared::{Core, Respond, Shared};
use crate::observe::Transport;
use crate::runtime::RuntimeHandle;

/// Holds an entry for the answer; dropping it abandons the request.
pub(crate) struct PendingRequest<'a, M: Respond> {
    shared: Held<'a, M>,
    /// The channel on which the request is sent.
    channel: Channel,
    /// Its cookie.
    place: Option<u64>,
    /// The mark that the side receives if the result of the request is
    /// [unclaimed](Respond::unclaimed).
    mark: bool,
    /// Set while the machine knows the request.
    token: Option<SentToken>,
    /// Progress on its way to the caller.
    received: ReceivedProgress,
}

/// The connection, for a request that borrows its handle or for one that outlives it.
enum Held<'a, M: Respond> {
    Borrowed(&'a Shared<M>),
    Shared(Arc<Shared<M>>),
}

impl<'a, M: Respond> PendingRequest<'a, M> {
    pub(crate) const fn new(shared: &'a Shared<M>) -> Self {
        Self::of(Held::Borrowed(shared))
    }

    /// A request that keeps the connection's state alive by itself.
    pub(crate) const fn shared(shared: Arc<Shared<M>>) -> Self {
        Self::of(Held::Shared(shared))
    }

    const fn of(shared: Held<'a, M>) -> Self {
        Self {
            shared,
            channel: Channel::PIPE,
            place: None,
            mark: false,
            token: None,
            received: ReceivedProgress::new(),
        }
    }

    /// Sends the request on another channel.
    pub(crate) const fn on(mut self, channel: Channel) -> Self {
        self.channel = channel;
        self
    }

    /// Marks the request, before it is sent.
    pub(crate) const fn mark(&mut self, mark: bool) {
        self.mark = mark;
    }

    /// The state of the connection.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core<M>> {
        self.shared.get().lock()
    }

    /// The runtime of the connection.
    pub(crate) fn runtime(&self) -> &RuntimeHandle {
        &self.shared.get().runtime
    }

    /// The transport that carries the request.
    pub(crate) fn transport(&self) -> Transport {
        self.shared.get().transport
    }

    /// The request in the machine's table.
    pub(crate) const fn token(&self) -> Option<SentToken> {
        self.token
    }

    /// Sends the request, or one more round of it; `write` gets the cookie to send along.
    /// After [`SendError::NotReady`] the task is woken at the next change of the connection.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        tag: u64,
        mut write: impl FnMut(
            &mut M,
            Instant,
            u64,
            &mut [u8],
        ) -> Result<(SentToken, Transmit), SendError>,
    ) -> Poll<Result<(), SendError>> {
        let now = self.shared.get().now();
        let sent = {
            let mut core = self.shared.get().lock();
            let place = match self.place {
                Some(place) => place,
                None => *self.place.insert(core.responses.take(tag, self.mark)),
            };
            let sent = core.poll_send(now, cx, self.channel, |machine, now, out| {
                write(machine, now, place, out)
            });
            if matches!(sent, Poll::Ready(Err(SendError::NotReady))) {
                core.watch(cx);
            }
            sent
        };
        sent.map_ok(|(token, _)| {
            self.token = Some(token);
            self.shared.get().driver_waker.wake();
        })
    }

    /// Returns the next arrival for the request; `None` if the connection ended without one.
    pub(crate) fn poll_arrival(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<(Arrival<M::Failure>, RawBuf)>> {
        let Some(place) = self.place else {
            return Poll::Ready(None);
        };
        let mut core = self.shared.get().lock();
        let Some(arrived) = core.responses.collect(place, cx, &mut self.received) else {
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

    /// Hands over the progress that came before what [`poll_arrival`](Self::poll_arrival) said.
    pub(crate) fn tell(&mut self, on_progress: &mut dyn FnMut(Progress<'_>)) {
        self.received.tell(on_progress);
    }

    /// Gives the place back, with the buffer that the answer came in. A result that has arrived and
    /// was not taken is [unclaimed](Respond::unclaimed).
    pub(crate) fn leave(&mut self, buffer: Option<RawBuf>) {
        let Some(place) = self.place.take() else {
            return;
        };
        let token = self.token.take();
        let received = core::mem::take(&mut self.received);
        // The waker is dropped outside the lock: it is a user's.
        let (_waker, unclaimed) = {
            let mut core = self.shared.get().lock();
            if let Some(token) = token {
                core.machine.abandon(token);
            }
            core.responses.give_back(place, buffer, received)
        };
        if token.is_some() {
            self.shared.get().driver_waker.wake();
        }
        if let Some(result) = unclaimed {
            M::unclaimed(self.shared.get(), result.as_raw(), is_marked(place));
        }
    }
}

impl<M: Respond> Drop for PendingRequest<'_, M> {
    fn drop(&mut self) {
        self.leave(None);
    }
}

impl<M: Respond> Held<'_, M> {
    fn get(&self) -> &Shared<M> {
        match self {
            Self::Borrowed(shared) => shared,
            Self::Shared(shared) => shared,
        }
    }
}
