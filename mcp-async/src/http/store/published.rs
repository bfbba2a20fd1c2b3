//! Messages for all subscriptions of a store in memory.

use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard, Weak};

use super::{StoreError, StoreSubscription};
use crate::sync::{Lock, Waiter, Waiters};

/// The subscriptions that there are.
#[derive(Default)]
pub(super) struct Published(Lock<Vec<Weak<Lock<Queue>>>>);

#[derive(Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    /// A message did not fit.
    overflowed: bool,
    waker: Waiter,
}

/// Receives the messages that are published in a [`MemoryStore`](super::MemoryStore).
pub struct MemorySubscription(Arc<Lock<Queue>>);

impl Published {
    pub(super) fn publish(&self, message: &[u8]) {
        let mut wakers = Waiters::new();
        self.queues().retain(|queue| {
            let Some(queue) = queue.upgrade() else {
                return false;
            };
            let mut queue = queue.lock();
            match queue.messages.len() < MAX_MESSAGES {
                true => queue.messages.push_back(message.to_vec()),
                false => queue.overflowed = true,
            }
            wakers.extend([queue.waker.take()]);
            true
        });
        wakers.wake();
    }

    pub(super) fn subscribe(&self) -> MemorySubscription {
        let queue = Arc::default();
        self.queues().push(Arc::downgrade(&queue));
        MemorySubscription(queue)
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Weak<Lock<Queue>>>> {
        self.0.lock()
    }
}

impl StoreSubscription for MemorySubscription {
    async fn next(&mut self) -> Result<Vec<u8>, StoreError> {
        poll_fn(|cx| {
            let mut queue = self.0.lock();
            if let Some(message) = queue.messages.pop_front() {
                return Poll::Ready(Ok(message));
            }
            if queue.overflowed {
                return Poll::Ready(Err(StoreError::new("messages were not read in time")));
            }
            queue.waker.register(cx);
            Poll::Pending
        })
        .await
    }
}

impl fmt::Debug for MemorySubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySubscription").finish_non_exhaustive()
    }
}

/// Messages that may wait in a subscription.
const MAX_MESSAGES: usize = 4096;
