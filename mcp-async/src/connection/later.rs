//! A value that another thread or task gives later.

use std::sync::Arc;

use super::Signal;
use crate::sync::Lock;

/// The end that receives the value.
pub(crate) struct Later<T>(Arc<State<T>>);

/// The end that gives the value, once.
pub(crate) struct Answer<T>(Arc<State<T>>);

struct State<T> {
    value: Lock<Option<T>>,
    /// The other end was dropped.
    ended: Signal,
}

/// The two ends.
pub(crate) fn later<T>() -> (Answer<T>, Later<T>) {
    let state = Arc::new(State {
        value: Lock::new(None),
        ended: Signal::default(),
    });
    (Answer(Arc::clone(&state)), Later(state))
}

impl<T> Later<T> {
    /// Resolves with the value; with `None` if it will not be given.
    pub(crate) async fn value(self) -> Option<T> {
        self.0.ended.wait().await;
        self.0.value.lock().take()
    }
}

impl<T> Answer<T> {
    /// Returns true if the other end still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn give(self, value: T) {
        *self.0.value.lock() = Some(value);
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.0.ended.set();
    }
}
