//! Something that happens once, and is waited for.

use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::connection::register;

/// Something that happens once, and is waited for.
#[derive(Default)]
pub(in crate::http::server) struct Signal(Mutex<State>);

#[derive(Default)]
struct State {
    is_set: bool,
    wakers: Vec<Waker>,
}

impl Signal {
    pub(in crate::http::server) fn set(&self) {
        let wakers = {
            let mut state = self.lock();
            state.is_set = true;
            core::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(in crate::http::server) fn is_set(&self) -> bool {
        self.lock().is_set
    }

    pub(in crate::http::server) async fn wait(&self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_set {
            return Poll::Ready(());
        }
        register(&mut state.wakers, cx);
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
