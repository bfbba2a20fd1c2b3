//! Requests of a client whose answers no caller awaits.

use core::any::Any;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::ask::Ask;
use crate::sync::{Lock, Waiter, Waiters};

/// Requests for the supervisor to send. One that keeps its client open until it is answered is
/// sent even if the program drops its last handle at once.
#[derive(Default)]
pub(in crate::client) struct OwedRequests(Lock<State>);

#[derive(Default)]
struct State {
    requests: Vec<Owed>,
    /// Requests that were sent and are not answered.
    sent: usize,
    /// No supervisor comes any more.
    ended: bool,
    supervisor: Waiter,
    /// Tasks that wait until nothing is owed.
    waiting: Waiters,
}

pub(in crate::client) struct Owed {
    pub(in crate::client) ask: Ask<'static>,
    /// A reference that keeps the client open for as long as the request is held, if there is one.
    pub(in crate::client) client: Option<Arc<dyn Any + Send + Sync>>,
}

impl OwedRequests {
    /// Adds a request; one that is too many is dropped.
    pub(in crate::client) fn push(
        &self,
        client: Option<Arc<dyn Any + Send + Sync>>,
        ask: Ask<'static>,
    ) {
        let waker = {
            let mut state = self.0.lock();
            if state.ended || state.requests.len() >= MOST {
                return;
            }
            state.requests.push(Owed { ask, client });
            state.supervisor.take()
        };
        waker.wake();
    }

    /// The next request to send; [`answered`](Self::answered) is to be called for each.
    pub(in crate::client) fn poll_next(&self, cx: &Context<'_>) -> Poll<Owed> {
        let mut state = self.0.lock();
        match state.requests.pop() {
            Some(owed) => {
                state.sent += 1;
                Poll::Ready(owed)
            }
            None => {
                state.supervisor.register(cx);
                Poll::Pending
            }
        }
    }

    pub(in crate::client) fn answered(&self) {
        let waiting = {
            let mut state = self.0.lock();
            state.sent = state.sent.saturating_sub(1);
            state.waiting.take()
        };
        waiting.wake();
    }

    /// Ready when nothing is owed.
    pub(in crate::client) fn poll_settled(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.ended || (state.requests.is_empty() && state.sent == 0) {
            return Poll::Ready(());
        }
        state.waiting.register(cx);
        Poll::Pending
    }

    pub(in crate::client) fn end(&self) {
        // Dropped outside the lock: they may be the last handles.
        let (_requests, waiting) = {
            let mut state = self.0.lock();
            state.ended = true;
            let waiting = state.waiting.take();
            (core::mem::take(&mut state.requests), waiting)
        };
        waiting.wake();
    }
}

/// The most that wait to be sent.
const MOST: usize = 1024;
