//! A fair semaphore: callers take turns, and the requests of one pass in their order.

use core::future::Future;
use core::hash::Hash;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard};

use crate::sync::Lock;

/// Bounds the permits that are held at a time. Waiting callers are served in rounds: each has one turn in a round.
pub(crate) struct Semaphore<K = ()> {
    state: Lock<State<K>>,
}

struct State<K> {
    free: usize,
    /// Those who wait, by their turns. A turn that is no longer among them may pass.
    waiting: BTreeMap<Turn, (K, Waker)>,
    /// Callers that wait.
    callers: HashMap<K, Rounds>,
    /// The round of the turn that has passed last.
    round: u64,
    next: u64,
}

/// The round of a turn, and its number.
type Turn = (u64, u64);

/// The turns of one caller.
#[derive(Default)]
struct Rounds {
    last: u64,
    waiting: usize,
}

impl<K: Clone + Eq + Hash> State<K> {
    /// Adds a turn: in the next round, or in the one after the last of the same caller.
    fn add(&mut self, caller: K, waker: Waker) -> Turn {
        let rounds = self.callers.entry(caller.clone()).or_default();
        rounds.last = rounds.last.max(self.round) + 1;
        rounds.waiting += 1;
        let turn = (rounds.last, self.next);
        self.next += 1;
        self.waiting.insert(turn, (caller, waker));
        turn
    }

    /// Takes a turn out; the waker, if it was waiting.
    fn remove(&mut self, turn: Turn) -> Option<Waker> {
        let (caller, waker) = self.waiting.remove(&turn)?;
        if let Some(rounds) = self.callers.get_mut(&caller) {
            rounds.waiting -= 1;
            if rounds.waiting == 0 {
                self.callers.remove(&caller);
            }
        }
        Some(waker)
    }
}

impl<K: Clone + Eq + Hash> Semaphore<K> {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Lock::new(State {
                free: limit,
                waiting: BTreeMap::new(),
                callers: HashMap::new(),
                round: 0,
                next: 0,
            }),
        })
    }

    /// Takes a permit if one is free.
    pub(crate) fn try_acquire(self: &Arc<Self>) -> Option<Permit<K>> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(Permit(Arc::clone(self)))
    }

    /// Passes when it is the turn of this request of the caller.
    pub(crate) const fn acquire(self: Arc<Self>, caller: K) -> Acquire<K> {
        Acquire {
            semaphore: Some(self),
            caller,
            turn: None,
        }
    }

    /// A permit was returned: the next one may pass.
    fn leave(&self) {
        let next = {
            let mut state = self.state();
            match state.waiting.first_key_value() {
                Some((&turn, _)) => {
                    state.round = turn.0;
                    state.remove(turn)
                }
                None => {
                    state.free += 1;
                    None
                }
            }
        };
        next.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock()
    }
}

/// The right to be inside.
pub(crate) struct Permit<K: Clone + Eq + Hash = ()>(Arc<Semaphore<K>>);

impl<K: Clone + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Waits for a permit.
pub(crate) struct Acquire<K: Clone + Eq + Hash = ()> {
    /// `None` once it has passed.
    semaphore: Option<Arc<Semaphore<K>>>,
    caller: K,
    turn: Option<Turn>,
}

impl<K: Clone + Eq + Hash + Unpin> Future for Acquire<K> {
    type Output = Permit<K>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit<K>> {
        let Some(semaphore) = self.semaphore.take() else {
            return Poll::Pending;
        };
        let waker = cx.waker().clone();
        // The replaced waker is dropped outside the lock.
        let replaced = {
            let mut state = semaphore.state();
            match self.turn {
                Some(turn) => state
                    .waiting
                    .get_mut(&turn)
                    .map(|(_, waiting)| Some(core::mem::replace(waiting, waker))),
                None => match state.free.checked_sub(1) {
                    Some(free) => {
                        state.free = free;
                        None
                    }
                    None => {
                        self.turn = Some(state.add(self.caller.clone(), waker));
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

impl<K: Clone + Eq + Hash> Drop for Acquire<K> {
    fn drop(&mut self) {
        let (Some(semaphore), Some(turn)) = (self.semaphore.take(), self.turn) else {
            return;
        };
        let waited = semaphore.state().remove(turn);
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

    fn poll<K: Clone + Eq + Hash + Unpin>(acquire: Pin<&mut Acquire<K>>) -> Option<Permit<K>> {
        match acquire.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(pass) => Some(pass),
            Poll::Pending => None,
        }
    }

    #[test]
    fn they_pass_in_order() {
        let semaphore = Semaphore::<()>::new(2);
        let first = semaphore.try_acquire().unwrap();
        let mut second = pin!(Arc::clone(&semaphore).acquire(()));
        let second = poll(second.as_mut()).unwrap();
        assert!(semaphore.try_acquire().is_none());
        let mut third = pin!(Arc::clone(&semaphore).acquire(()));
        let mut fourth = pin!(Arc::clone(&semaphore).acquire(()));
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
    fn callers_take_turns() {
        let semaphore = Semaphore::new(1);
        let mut inside = semaphore.try_acquire();
        let callers = ['a', 'a', 'a', 'b', 'c', 'b'];
        let mut waiting: Vec<_> = callers
            .iter()
            .map(|caller| Box::pin(Arc::clone(&semaphore).acquire(*caller)))
            .collect();
        for acquire in &mut waiting {
            assert!(poll(acquire.as_mut()).is_none());
        }
        let mut passed = Vec::new();
        while passed.len() < callers.len() {
            drop(inside.take());
            let mut each = waiting.iter_mut().enumerate();
            inside = each.find_map(|(number, acquire)| {
                let permit = poll(acquire.as_mut())?;
                passed.push(number);
                Some(permit)
            });
        }
        assert_eq!(passed, [0, 3, 4, 1, 5, 2]);
        assert!(semaphore.state().callers.is_empty());
    }

    #[test]
    fn who_goes_away_lets_the_next_one_pass() {
        let semaphore = Semaphore::<()>::new(1);
        let inside = semaphore.try_acquire();
        let mut patient = pin!(Arc::clone(&semaphore).acquire(()));
        {
            let mut called = Box::pin(Arc::clone(&semaphore).acquire(()));
            let mut waits = Box::pin(Arc::clone(&semaphore).acquire(()));
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
