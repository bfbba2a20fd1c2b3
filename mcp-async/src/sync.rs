//! A lock that does not mind what became of the threads that held it, and the tasks that wait for something behind it.
//!
//! Waiting tasks are taken while the lock is held, and woken when it is not:
//!
//! ```text
//! let waiting = {
//!     let mut state = self.state.lock();
//!     state.is_done = true;
//!     state.waiting.take()
//! };
//! waiting.wake();
//! ```

use core::mem;
use core::task::{Context, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that one thread at a time looks at. A panic of a thread that holds it leaves it usable.
#[derive(Debug, Default)]
pub(crate) struct Lock<T: ?Sized>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: ?Sized> Lock<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one task that waits: the one that polled last.
#[derive(Clone, Debug, Default)]
#[must_use = "the task that was taken waits for its wake"]
pub(crate) struct Waiter(Option<Waker>);

impl Waiter {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn register(&mut self, cx: &Context<'_>) {
        match &mut self.0 {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Returns true if the task that polls is the one that waits.
    pub(crate) fn is(&self, cx: &Context<'_>) -> bool {
        self.0
            .as_ref()
            .is_some_and(|waker| waker.will_wake(cx.waker()))
    }

    pub(crate) const fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    pub(crate) fn wake(self) {
        if let Some(waker) = self.0 {
            waker.wake();
        }
    }
}

/// All tasks that wait, each once.
#[derive(Debug, Default)]
#[must_use = "the tasks that were taken wait for their wake"]
pub(crate) struct Waiters(Vec<Waker>);

impl Waiters {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn register(&mut self, cx: &Context<'_>) {
        if !self.0.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.0.push(cx.waker().clone());
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self) -> Self {
        mem::take(self)
    }

    pub(crate) fn append(&mut self, others: &mut Self) {
        self.0.append(&mut others.0);
    }

    pub(crate) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

impl Extend<Waker> for Waiters {
    fn extend<T: IntoIterator<Item = Waker>>(&mut self, wakers: T) {
        self.0.extend(wakers);
    }
}

impl Extend<Waiter> for Waiters {
    fn extend<T: IntoIterator<Item = Waiter>>(&mut self, waiters: T) {
        self.0
            .extend(waiters.into_iter().filter_map(|waiter| waiter.0));
    }
}
