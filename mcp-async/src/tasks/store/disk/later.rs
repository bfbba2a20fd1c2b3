//! A value that another thread gives later.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// The end that receives the value.
pub(super) struct Later<T>(Arc<Mutex<State<T>>>);

/// The end that gives the value, once.
pub(super) struct Answer<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    value: Option<T>,
    /// The other end was dropped.
    ended: bool,
    waker: Option<Waker>,
}

/// The two ends.
pub(super) fn later<T>() -> (Answer<T>, Later<T>) {
    let state = Arc::new(Mutex::new(State {
        value: None,
        ended: false,
        waker: None,
    }));
    (Answer(Arc::clone(&state)), Later(state))
}

impl<T> Later<T> {
    /// Resolves with the value; with `None` if it will not be given.
    pub(super) async fn value(self) -> Option<T> {
        poll_fn(|cx| {
            let mut state = lock(&self.0);
            if state.ended {
                return Poll::Ready(state.value.take());
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl<T> Answer<T> {
    /// Returns true if the other end still waits.
    pub(super) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(super) fn give(self, value: T) {
        lock(&self.0).value = Some(value);
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let waker = {
            let mut state = lock(&self.0);
            state.ended = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
