//! A lock that tasks await.

use std::collections::BTreeSet;

use crate::connection::Notify;
use crate::sync::Lock;

/// A lock that is awaited, and held over other awaits, in the order in which tasks have asked for it.
#[derive(Default)]
pub(in crate::client) struct AsyncLock {
    places: Lock<Places>,
    changed: Notify,
}

#[derive(Default)]
struct Places {
    /// The task that holds the lock is the first; the others wait for it.
    taken: BTreeSet<u64>,
    next: u64,
}

/// A place among those who want the lock. The first one holds it, until this is dropped.
pub(in crate::client) struct AsyncLockGuard<'a> {
    lock: &'a AsyncLock,
    number: u64,
}

impl AsyncLock {
    /// Waits until all who asked before have given the lock back.
    pub(in crate::client) async fn lock(&self) -> AsyncLockGuard<'_> {
        let guard = {
            let places = &mut *self.places.lock();
            places.next += 1;
            places.taken.insert(places.next);
            AsyncLockGuard {
                lock: self,
                number: places.next,
            }
        };
        loop {
            let changed = {
                let places = self.places.lock();
                if places.taken.first() == Some(&guard.number) {
                    break;
                }
                self.changed.notified()
            };
            changed.await;
        }
        guard
    }
}

impl Drop for AsyncLockGuard<'_> {
    fn drop(&mut self) {
        self.lock.places.lock().taken.remove(&self.number);
        self.lock.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn tasks_hold_it_in_the_order_in_which_they_asked() {
        let (lock, cx) = (
            AsyncLock::default(),
            &mut Context::from_waker(Waker::noop()),
        );
        let mut first = pin!(lock.lock());
        let Poll::Ready(held) = first.as_mut().poll(cx) else {
            panic!("it is free");
        };
        let (mut second, mut third) = (pin!(lock.lock()), pin!(lock.lock()));
        let mut given_up = Box::pin(lock.lock());
        assert!(given_up.as_mut().poll(cx).is_pending());
        assert!(second.as_mut().poll(cx).is_pending());
        drop((held, given_up));
        assert!(third.as_mut().poll(cx).is_pending());
        let Poll::Ready(held) = second.as_mut().poll(cx) else {
            panic!("it is the second's");
        };
        assert!(third.as_mut().poll(cx).is_pending());
        drop(held);
        assert!(third.as_mut().poll(cx).is_ready());
    }
}
