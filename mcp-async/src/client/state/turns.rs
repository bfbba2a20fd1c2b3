//! Something that tasks do one after the other.

use crate::connection::Notify;
use crate::sync::Lock;

/// Lets one task at a time do something.
#[derive(Default)]
pub(in crate::client) struct Turns {
    is_taken: Lock<bool>,
    ended: Notify,
}

/// The turn of a task, which ends when this is dropped.
pub(in crate::client) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for the ends of the turns of others.
    pub(in crate::client) async fn take(&self) -> Turn<'_> {
        loop {
            let ended = {
                let mut is_taken = self.is_taken.lock();
                if !core::mem::replace(&mut *is_taken, true) {
                    return Turn(self);
                }
                self.ended.notified()
            };
            ended.await;
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.is_taken.lock() = false;
        self.0.ended.notify_waiters();
    }
}
