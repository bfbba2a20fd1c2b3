//! A request that another process has forwarded, while it runs here.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::message::WINDOW;
use crate::connection::register;

/// A request of another process that is under way here.
#[derive(Default)]
pub(super) struct Serving(Mutex<State>);

#[derive(Default)]
struct State {
    cancelled: bool,
    /// How many parts the client has read.
    read: u64,
    wakers: Vec<Waker>,
}

impl Serving {
    /// The client is gone, or the process that it is connected to.
    pub(super) fn cancel(&self) {
        self.change(|state| state.cancelled = true);
    }

    pub(super) fn read(&self, parts: u64) {
        self.change(|state| state.read = state.read.max(parts));
    }

    pub(super) async fn cancelled(&self) {
        self.wait(|state| state.cancelled).await;
    }

    /// Waits until another part may be sent, after so many.
    pub(super) async fn room(&self, sent: u64) {
        self.wait(|state| sent < state.read.saturating_add(WINDOW))
            .await;
    }

    async fn wait(&self, until: impl Fn(&State) -> bool) {
        poll_fn(|cx| {
            let mut state = self.state();
            if until(&state) {
                return Poll::Ready(());
            }
            register(&mut state.wakers, cx);
            Poll::Pending
        })
        .await;
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let wakers = {
            let mut state = self.state();
            change(&mut state);
            core::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
