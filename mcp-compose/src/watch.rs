//! A value whose changes tasks wait for.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that tasks share. A panic of a thread that holds it leaves it usable.
#[derive(Debug, Default)]
pub(crate) struct Watch<T>(Mutex<Watched<T>>);

#[derive(Debug, Default)]
struct Watched<T> {
    value: T,
    waiting: Vec<Waker>,
}

impl<T> Watch<T> {
    pub(crate) const fn new(value: T) -> Self {
        let waiting = Vec::new();
        Self(Mutex::new(Watched { value, waiting }))
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
        waiting.into_iter().for_each(Waker::wake);
        result
    }

    /// Returns what the closure finds in the value, as soon as it finds something.
    pub(crate) async fn find<R>(&self, find: impl Fn(&T) -> Option<R>) -> R {
        self.take(|value| find(value)).await
    }

    /// Returns what the closure takes out of the value, as soon as it finds something.
    pub(crate) async fn take<R>(&self, take: impl Fn(&mut T) -> Option<R>) -> R {
        poll_fn(|cx| {
            let mut watched = self.lock();
            if let Some(found) = take(&mut watched.value) {
                return Poll::Ready(found);
            }
            if !watched
                .waiting
                .iter()
                .any(|waker| waker.will_wake(cx.waker()))
            {
                watched.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Watched<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
