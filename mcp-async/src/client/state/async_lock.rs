//! A lock that tasks await.

use crate::connection::Notify;
use crate::sync::Lock;

/// A lock that is awaited, and held over other awaits.
#[derive(Default)]
pub(in crate::client) struct AsyncLock {
    is_held: Lock<bool>,
    freed: Notify,
}

/// Holds the lock until it is dropped.
pub(in crate::client) struct AsyncLockGuard<'a>(&'a AsyncLock);

impl AsyncLock {
    /// Waits until no other task holds the lock.
    pub(in crate::client) async fn lock(&self) -> AsyncLockGuard<'_> {
        loop {
            let freed = {
                let mut is_held = self.is_held.lock();
                if !core::mem::replace(&mut *is_held, true) {
                    return AsyncLockGuard(self);
                }
                self.freed.notified()
            };
            freed.await;
        }
    }
}

impl Drop for AsyncLockGuard<'_> {
    fn drop(&mut self) {
        *self.0.is_held.lock() = false;
        self.0.freed.notify_waiters();
    }
}
