//! The exit of a child process, reported to the calls that it leaves without an answer.

use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex};

use crate::connection::register;
use crate::io::process::ExitedEarly;
use crate::lock::lock;

/// The end of the child process of one connection, once it is known.
pub(in crate::client) struct ChildEnd(Mutex<State>);

struct State {
    known: bool,
    died: Option<ExitedEarly>,
    waiting: Vec<Waker>,
}

/// Reports how the child ended. Dropping it before reports that the end will not be known.
pub(in crate::client) struct Witness(Arc<ChildEnd>);

impl ChildEnd {
    pub(in crate::client) fn new() -> (Arc<Self>, Witness) {
        let state = State {
            known: false,
            died: None,
            waiting: Vec::new(),
        };
        let end = Arc::new(Self(Mutex::new(state)));
        (Arc::clone(&end), Witness(end))
    }

    /// Ready soon after the connection has ended.
    pub(in crate::client) fn poll(&self, cx: &Context<'_>) -> Poll<Option<ExitedEarly>> {
        let mut state = lock(&self.0);
        if state.known {
            return Poll::Ready(state.died.clone());
        }
        register(&mut state.waiting, cx);
        Poll::Pending
    }
}

impl Witness {
    pub(in crate::client) fn tell(self, died: ExitedEarly) {
        lock(&self.0.0).died = Some(died);
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let waiting = {
            let mut state = lock(&self.0.0);
            state.known = true;
            core::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}
