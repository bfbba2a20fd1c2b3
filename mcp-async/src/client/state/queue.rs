//! The queue of a stream.

use core::task::{Context, Poll};
use std::collections::VecDeque;

use crate::sync::{Lock, Waiter};

/// A bounded queue between the connection and one reader: when it is full the oldest entries make
/// room, and are counted, because a reader that is slow must not hold the connection up.
#[derive(Debug)]
pub(in crate::client) struct Queue<T> {
    state: Lock<State<T>>,
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    entries: VecDeque<T>,
    /// The bytes of all entries together.
    bytes: usize,
    dropped: u64,
    ended: bool,
    waker: Waiter,
}

/// An entry of a queue.
pub(in crate::client) trait Entry {
    /// The bytes that a peer chose the number of.
    fn bytes(&self) -> usize;

    /// Returns true if the reader waits for this entry, so that other entries make room.
    fn stays(&self) -> bool {
        false
    }
}

impl<T: Entry> Queue<T> {
    pub(in crate::client) fn new(limit: usize) -> Self {
        Self {
            state: Lock::new(State {
                entries: VecDeque::new(),
                bytes: 0,
                dropped: 0,
                ended: false,
                waker: Waiter::new(),
            }),
            limit: limit.max(1),
        }
    }

    pub(in crate::client) fn push(&self, entry: T) {
        // Entries that make room are dropped outside the lock, and so is the waker.
        let mut oldest = Vec::new();
        let waker = {
            let mut state = self.state.lock();
            let bytes = entry.bytes();
            while state.entries.len() >= self.limit || state.bytes.saturating_add(bytes) > BYTES {
                let Some(dropped) = state.make_room() else {
                    break;
                };
                oldest.push(dropped);
                state.dropped = state.dropped.saturating_add(1);
            }
            state.bytes = state.bytes.saturating_add(bytes);
            state.entries.push_back(entry);
            state.waker.take()
        };
        waker.wake();
    }

    /// Nothing more comes; what is there is still read.
    pub(in crate::client) fn end(&self) {
        let waker = {
            let mut state = self.state.lock();
            state.ended = true;
            state.waker.take()
        };
        waker.wake();
    }

    pub(in crate::client) fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.state.lock();
        if let Some(entry) = state.entries.pop_front() {
            state.bytes = state.bytes.saturating_sub(entry.bytes());
            return Poll::Ready(Some(entry));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.waker.register(cx);
        Poll::Pending
    }

    pub(in crate::client) fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }
}

impl<T: Entry> State<T> {
    /// Takes the oldest entry that may go, or else the oldest.
    fn make_room(&mut self) -> Option<T> {
        let first = self.entries.iter().position(|entry| !entry.stays());
        let entry = self.entries.remove(first.unwrap_or(0))?;
        self.bytes = self.bytes.saturating_sub(entry.bytes());
        Some(entry)
    }
}

/// Bytes that wait at most, besides a single entry that is larger.
const BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use core::task::Waker;

    use super::*;

    impl Entry for u32 {
        fn bytes(&self) -> usize {
            *self as usize
        }

        fn stays(&self) -> bool {
            *self == 0
        }
    }

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

    #[test]
    fn large_entries_make_room_sooner() {
        let queue = Queue::new(9);
        let cx = &Context::from_waker(Waker::noop());
        let half = u32::try_from(BYTES / 2).unwrap();
        for entry in [1, 2, half, half, 7] {
            queue.push(entry);
        }
        assert_eq!(queue.dropped(), 3);
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(half)));
        queue.push(u32::MAX);
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(u32::MAX)));
        assert_eq!(queue.poll_next(cx), Poll::Pending);
    }

    #[test]
    fn what_the_reader_waits_for_stays() {
        let queue = Queue::new(2);
        let cx = &Context::from_waker(Waker::noop());
        for entry in [0, 1, 2, 3] {
            queue.push(entry);
        }
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(0)));
        assert_eq!(queue.poll_next(cx), Poll::Ready(Some(3)));
        // However many of them come, there is an end.
        (0..5).for_each(|_| queue.push(0));
        assert_eq!(queue.dropped(), 2 + 3);
    }
}
