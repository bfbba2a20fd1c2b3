//! The exit of a child process, reported to the calls that it leaves without an answer.

use crate::io::process::ExitedEarly;
use crate::sync::{Lock, Waiters};
use core::task::{Context, Poll};
use std::sync::Arc;

/// The end of the child process of one connection, once it is known.
pub(in crate::client) struct ChildEnd(Lock<State>);

struct State {
    known: bool,
    died: Option<ExitedEarly>,
    waiting: Waiters,
}

/// Reports how the child ended. Dropping it before reports that the end will not be known.
pub(in crate::client) struct EndReporter(Arc<ChildEnd>);

impl ChildEnd {
    pub(in crate::client) fn new() -> (Arc<Self>, EndReporter) {
        let state = State {
            known: false,
            died: None,
            waiting: Waiters::new(),
        };
        let end = Arc::new(Self(Lock::new(state)));
        (Arc::clone(&end), EndReporter(end))
    }

    /// Ready soon after the connection has ended.
    pub(in crate::client) fn poll(&self, cx: &Context<'_>) -> Poll<Option<ExitedEarly>> {
        let mut state = self.0.lock();
        if state.known {
            return Poll::Ready(state.died.clone());
        }
        state.waiting.register(cx);
        Poll::Pending
    }
}

impl EndReporter {
    pub(in crate::client) fn tell(self, died: ExitedEarly) {
        self.0.0.lock().died = Some(died);
    }
}

impl Drop for EndReporter {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.0.0.lock();
            state.known = true;
            state.waiting.take()
        };
        waiting.wake();
    }
}
