//! A value that another thread gives later.

use std::sync::Arc;

use crate::connection::Signal;
use crate::sync::Lock;

/// The end that receives the value.
pub(super) struct Later<T>(Arc<State<T>>);

/// The end that gives the value, once.
pub(super) struct Answer<T>(Arc<State<T>>);

struct State<T> {
    value: Lock<Option<T>>,
    /// The other end was dropped.
    ended: Signal,
}

/// The two ends.
pub(super) fn later<T>() -> (Answer<T>, Later<T>) {
    let state = Arc::new(State {
        value: Lock::new(None),
        ended: Signal::default(),
    });
    (Answer(Arc::clone(&state)), Later(state))
}

impl<T> Later<T> {
    /// Resolves with the value; with `None` if it will not be given.
    pub(super) async fn value(self) -> Option<T> {
        self.0.ended.wait().await;
        self.0.value.lock().take()
    }
}

impl<T> Answer<T> {
    /// Returns true if the other end still waits.
    pub(super) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(super) fn give(self, value: T) {
        *self.0.value.lock() = Some(value);
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.0.ended.set();
    }
}
