//! A gate that so many pass at a time, first come, first served.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) struct Gate {
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// Those who wait, by the number that they drew. Whoever is no longer among them may pass.
    waiting: BTreeMap<u64, Waker>,
    next: u64,
}

impl Gate {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: limit,
                waiting: BTreeMap::new(),
                next: 0,
            }),
        })
    }

    /// Passes, if nobody has to wait.
    pub(super) fn try_enter(self: &Arc<Self>) -> Option<Pass> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(Pass(Arc::clone(self)))
    }

    /// Passes when it is this one's turn.
    pub(super) fn enter(self: Arc<Self>) -> Enter {
        Enter {
            gate: Some(self),
            number: None,
        }
    }

    /// Somebody has left: the next one may pass.
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
pub(super) struct Pass(Arc<Gate>);

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Waits in front of the gate.
pub(super) struct Enter {
    /// `None` once it has passed.
    gate: Option<Arc<Gate>>,
    number: Option<u64>,
}

impl Future for Enter {
    type Output = Pass;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Pass> {
        let Some(gate) = self.gate.take() else {
            return Poll::Pending;
        };
        let waker = cx.waker().clone();
        // The waker that this one replaces is somebody else's: it is dropped outside the lock.
        let replaced = {
            let mut state = gate.state();
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
                self.gate = Some(gate);
                Poll::Pending
            }
            None => Poll::Ready(Pass(gate)),
        }
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        let (Some(gate), Some(number)) = (self.gate.take(), self.number) else {
            return;
        };
        let waited = gate.state().waiting.remove(&number);
        if waited.is_none() {
            // Its turn had come, but it will not take it.
            gate.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::pin;

    fn poll(enter: Pin<&mut Enter>) -> Option<Pass> {
        match enter.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(pass) => Some(pass),
            Poll::Pending => None,
        }
    }

    #[test]
    fn they_pass_in_order() {
        let gate = Gate::new(2);
        let first = gate.try_enter().unwrap();
        let mut second = pin!(Arc::clone(&gate).enter());
        let second = poll(second.as_mut()).unwrap();
        assert!(gate.try_enter().is_none());
        let mut third = pin!(Arc::clone(&gate).enter());
        let mut fourth = pin!(Arc::clone(&gate).enter());
        assert!(poll(third.as_mut()).is_none());
        assert!(poll(fourth.as_mut()).is_none());
        drop(first);
        assert!(gate.try_enter().is_none(), "nobody overtakes");
        assert!(poll(fourth.as_mut()).is_none());
        let third = poll(third.as_mut()).unwrap();
        drop((second, third));
        assert!(poll(fourth.as_mut()).is_some());
        assert_eq!(gate.state().free, 2);
    }

    #[test]
    fn who_goes_away_lets_the_next_one_pass() {
        let gate = Gate::new(1);
        let inside = gate.try_enter();
        let mut patient = pin!(Arc::clone(&gate).enter());
        {
            let mut called = Box::pin(Arc::clone(&gate).enter());
            let mut waits = Box::pin(Arc::clone(&gate).enter());
            assert!(poll(called.as_mut()).is_none());
            assert!(poll(waits.as_mut()).is_none());
            assert!(poll(patient.as_mut()).is_none());
            drop(waits);
            drop(inside);
            // It is the turn of `called`, which is dropped here without taking it.
        }
        assert!(poll(patient.as_mut()).is_some());
        assert_eq!(gate.state().free, 1);
        assert!(gate.state().waiting.is_empty());
    }
}
