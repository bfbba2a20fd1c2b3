//! A fair semaphore: first come, first served.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) struct Semaphore {
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// Those who wait, by the number that they drew. A number that is no longer among them may
    /// pass.
    waiting: BTreeMap<u64, Waker>,
    next: u64,
}

impl Semaphore {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: limit,
                waiting: BTreeMap::new(),
                next: 0,
            }),
        })
    }

    /// Takes a permit if one is free.
    pub(crate) fn try_acquire(self: &Arc<Self>) -> Option<Permit> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(Permit(Arc::clone(self)))
    }

    /// Passes when it is this one's turn.
    pub(crate) fn acquire(self: Arc<Self>) -> Acquire {
        Acquire {
            semaphore: Some(self),
            number: None,
        }
    }

    /// A permit was returned: the next one may pass.
    fn leave(&self) {
        let next = {
            let mut state = self.state();
            let next = state.waiting.pop_first();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to be inside.
pub(crate) struct Permit(Arc<Semaphore>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Waits for a permit.
pub(crate) struct Acquire {
    /// `None` once it has passed.
    semaphore: Option<Arc<Semaphore>>,
    number: Option<u64>,
}

impl Future for Acquire {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let Some(semaphore) = self.semaphore.take() else {
            return Poll::Pending;
        };
        let waker = cx.waker().clone();
        // The replaced waker is dropped outside the lock.
        let replaced = {
            let mut state = semaphore.state();
            match self.number {
                Some(number) => state
                    .waiting
                    .get_mut(&number)
                    .map(|waiting| Some(core::mem::replace(waiting, waker))),
                None => match state.free.checked_sub(1) {
                    Some(free) => {
                        state.free = free;
                        None
                    }
                    None => {
                        let number = state.next;
                        state.next += 1;
                        state.waiting.insert(number, waker);
                        self.number = Some(number);
                        Some(None)
                    }
                },
            }
        };
        match replaced {
            Some(_) => {
                self.semaphore = Some(semaphore);
                Poll::Pending
            }
            None => Poll::Ready(Permit(semaphore)),
        }
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let (Some(semaphore), Some(number)) = (self.semaphore.take(), self.number) else {
            return;
        };
        let waited = semaphore.state().waiting.remove(&number);
        if waited.is_none() {
            // Its turn had come, but it will not take it.
            semaphore.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::pin;

    fn poll(acquire: Pin<&mut Acquire>) -> Option<Permit> {
        match acquire.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(pass) => Some(pass),
            Poll::Pending => None,
        }
    }

    #[test]
    fn they_pass_in_order() {
        let semaphore = Semaphore::new(2);
        let first = semaphore.try_acquire().unwrap();
        let mut second = pin!(Arc::clone(&semaphore).acquire());
        let second = poll(second.as_mut()).unwrap();
        assert!(semaphore.try_acquire().is_none());
        let mut third = pin!(Arc::clone(&semaphore).acquire());
        let mut fourth = pin!(Arc::clone(&semaphore).acquire());
        assert!(poll(third.as_mut()).is_none());
        assert!(poll(fourth.as_mut()).is_none());
        drop(first);
        assert!(
            semaphore.try_acquire().is_none(),
            "no request overtakes another"
        );
        assert!(poll(fourth.as_mut()).is_none());
        let third = poll(third.as_mut()).unwrap();
        drop((second, third));
        assert!(poll(fourth.as_mut()).is_some());
        assert_eq!(semaphore.state().free, 2);
    }

    #[test]
    fn who_goes_away_lets_the_next_one_pass() {
        let semaphore = Semaphore::new(1);
        let inside = semaphore.try_acquire();
        let mut patient = pin!(Arc::clone(&semaphore).acquire());
        {
            let mut called = Box::pin(Arc::clone(&semaphore).acquire());
            let mut waits = Box::pin(Arc::clone(&semaphore).acquire());
            assert!(poll(called.as_mut()).is_none());
            assert!(poll(waits.as_mut()).is_none());
            assert!(poll(patient.as_mut()).is_none());
            drop(waits);
            drop(inside);
            // It is the turn of `called`, which is dropped here without taking it.
        }
        assert!(poll(patient.as_mut()).is_some());
        assert_eq!(semaphore.state().free, 1);
        assert!(semaphore.state().waiting.is_empty());
    }
}
