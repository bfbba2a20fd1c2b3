//! Something that happens once or again and again, and is waited for.

use core::future::Future;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::Arc;

use crate::shrink::shrink;
use crate::sync::Lock;

/// Something that happens once, and is waited for.
#[derive(Default)]
pub(crate) struct Signal(Lock<State>);

#[derive(Default)]
struct State {
    is_set: bool,
    /// Those who wait, each by a number of its own.
    wakers: HashMap<u64, Waker>,
    next: u64,
}

/// Waits for a signal, which forgets it when it is dropped.
pub(crate) struct Wait<S: Deref<Target = Signal>> {
    signal: S,
    number: Option<u64>,
}

impl Signal {
    pub(crate) fn set(&self) {
        let wakers = {
            let mut state = self.0.lock();
            state.is_set = true;
            core::mem::take(&mut state.wakers)
        };
        wakers.into_values().for_each(Waker::wake);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().is_set
    }

    pub(crate) const fn wait(&self) -> Wait<&Self> {
        Wait {
            signal: self,
            number: None,
        }
    }

    /// Waits for it, and keeps it.
    pub(crate) fn wait_shared(self: &Arc<Self>) -> Wait<Arc<Self>> {
        Wait {
            signal: Arc::clone(self),
            number: None,
        }
    }
}

impl<S: Deref<Target = Signal> + Unpin> Future for Wait<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (number, replaced) = {
            let mut state = self.signal.0.lock();
            if state.is_set {
                return Poll::Ready(());
            }
            let number = self.number.unwrap_or(state.next);
            state.next = state.next.max(number + 1);
            let waker = state.wakers.get(&number);
            let is_kept = waker.is_some_and(|waker| waker.will_wake(cx.waker()));
            let replaced = match is_kept {
                true => None,
                false => state.wakers.insert(number, cx.waker().clone()),
            };
            (number, replaced)
        };
        // Outside the lock: a waker may own a task.
        drop(replaced);
        self.number = Some(number);
        Poll::Pending
    }
}

impl<S: Deref<Target = Signal>> Drop for Wait<S> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // It is dropped outside the lock: a waker may own a task.
            let _waker = {
                let mut state = self.signal.0.lock();
                let waker = state.wakers.remove(&number);
                shrink(&mut state.wakers);
                waker
            };
        }
    }
}

/// Something that happens again and again, and is waited for.
#[derive(Default)]
pub(crate) struct Notify(Lock<Arc<Signal>>);

/// Waits for the next time that it happens.
pub(crate) type Notified = Wait<Arc<Signal>>;

impl Notify {
    /// It happens now, for all that wait for it.
    pub(crate) fn notify_waiters(&self) {
        let next = core::mem::take(&mut *self.0.lock());
        next.set();
    }

    /// Waits for the next time that it happens from now on.
    pub(crate) fn notified(&self) -> Notified {
        self.0.lock().wait_shared()
    }
}
