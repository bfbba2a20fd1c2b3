//! A value whose changes tasks wait for.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that tasks share. A panic of a thread that holds it leaves it usable.
#[derive(Debug, Default)]
pub(crate) struct Watch<T>(Mutex<Watched<T>>);

#[derive(Debug, Default)]
struct Watched<T> {
    value: T,
    /// The tasks that wait, by the numbers of what they wait with.
    waiting: BTreeMap<u64, Waker>,
    last: u64,
}

/// A place among those that wait, which ends with the future that waits.
struct Waiting<'w, T> {
    watch: &'w Watch<T>,
    number: Option<u64>,
}

impl<T> Watch<T> {
    pub(crate) const fn new(value: T) -> Self {
        let waiting = BTreeMap::new();
        Self(Mutex::new(Watched {
            value,
            waiting,
            last: 0,
        }))
    }

    /// Reads the value. The closure must not call the application.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.lock().value)
    }

    /// Changes the value, and wakes the tasks that wait. The closure must not call the application.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let (result, waiting) = {
            let mut watched = self.lock();
            let result = change(&mut watched.value);
            (result, core::mem::take(&mut watched.waiting))
        };
        waiting.into_values().for_each(Waker::wake);
        result
    }

    /// Returns what the closure finds in the value, as soon as it finds something.
    pub(crate) async fn find<R>(&self, find: impl Fn(&T) -> Option<R>) -> R {
        self.take(|value| find(value)).await
    }

    /// Returns what the closure takes out of the value, as soon as it finds something.
    pub(crate) async fn take<R>(&self, take: impl Fn(&mut T) -> Option<R>) -> R {
        let mut waiting = Waiting {
            watch: self,
            number: None,
        };
        poll_fn(|cx| {
            let mut watched = self.lock();
            if let Some(found) = take(&mut watched.value) {
                return Poll::Ready(found);
            }
            let number = *waiting.number.get_or_insert_with(|| {
                watched.last += 1;
                watched.last
            });
            let before = watched.waiting.insert(number, cx.waker().clone());
            // A waker is dropped without the lock: it is a user's.
            drop(watched);
            drop(before);
            Poll::Pending
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Watched<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.watch.lock().waiting.remove(&number);
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::Context;

    use super::*;

    #[test]
    fn a_future_that_is_dropped_waits_no_more() {
        let watch = Watch::new(0);
        let cx = &mut Context::from_waker(Waker::noop());
        let is_seven = |value: &i32| (*value == 7).then_some(());
        {
            let (mut first, mut second) = (pin!(watch.find(is_seven)), pin!(watch.find(is_seven)));
            for _ in 0..3 {
                assert!(first.as_mut().poll(cx).is_pending());
                assert!(second.as_mut().poll(cx).is_pending());
            }
            assert_eq!(watch.lock().waiting.len(), 2);
            watch.change(|value| *value = 7);
            assert!(first.as_mut().poll(cx).is_ready());
            watch.change(|value| *value = 8);
            assert!(second.as_mut().poll(cx).is_pending());
        }
        assert!(watch.lock().waiting.is_empty());
    }
}
