//! A channel for one value, which another thread or task sends.

use std::sync::Arc;

use super::Signal;
use crate::sync::Lock;

/// The end that sends the value.
pub(crate) struct Sender<T>(Arc<State<T>>);

/// The end that receives the value.
pub(crate) struct Receiver<T>(Arc<State<T>>);

struct State<T> {
    value: Lock<Option<T>>,
    /// Set when the sender was dropped.
    ended: Signal,
}

/// Creates the two ends.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = Arc::new(State {
        value: Lock::new(None),
        ended: Signal::default(),
    });
    (Sender(Arc::clone(&state)), Receiver(state))
}

impl<T> Receiver<T> {
    /// Waits for the value; returns `None` if the sender was dropped without sending one.
    pub(crate) async fn recv(self) -> Option<T> {
        self.0.ended.wait().await;
        self.0.value.lock().take()
    }
}

impl<T> Sender<T> {
    /// Returns true if the receiver was not dropped.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn send(self, value: T) {
        *self.0.value.lock() = Some(value);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.ended.set();
    }
}
