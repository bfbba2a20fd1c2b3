//! What waits for a stream's reader.

use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A bounded queue between the connection and one reader: when it is full the oldest entry makes
/// room, and is counted, because a reader that is slow must not hold the connection up.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    entries: VecDeque<T>,
    dropped: u64,
    ended: bool,
    waker: Option<Waker>,
}

impl<T> Queue<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                entries: VecDeque::new(),
                dropped: 0,
                ended: false,
                waker: None,
            }),
            limit: limit.max(1),
        }
    }

    pub(super) fn push(&self, entry: T) {
        // What makes room is dropped outside the lock, and so is the waker.
        let (_oldest, waker) = {
            let mut state = self.lock();
            let full = state.entries.len() >= self.limit;
            let oldest = if full {
                state.entries.pop_front()
            } else {
                None
            };
            state.dropped = state.dropped.saturating_add(u64::from(full));
            state.entries.push_back(entry);
            (oldest, state.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nothing more comes; what is there is still read.
    pub(super) fn end(&self) {
        let waker = {
            let mut state = self.lock();
            state.ended = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.lock();
        if let Some(entry) = state.entries.pop_front() {
            return Poll::Ready(Some(entry));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room_and_is_counted() {
        let queue = Queue::new(2);
        let cx = &Context::from_waker(Waker::noop());
        assert_eq!(queue.poll_next(cx), Poll::Pending);
        for entry in 1..=4 {
            queue.push(entry);
        }
        queue.end();
        assert_eq!(queue.dropped(), 2);
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(3)));
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(4)));
        assert_eq!(queue.poll_next(cx), Poll::Ready(None));
    }
}
