//! Changes of this process that the others do not know yet.

use core::future::poll_fn;
use core::task::Poll;
use std::collections::BTreeSet;

use crate::connection::Notify;
use crate::server::Announcement;
use crate::sync::{Lock, Waiter};

/// Changes that the other processes do not know yet, each once.
#[derive(Default)]
pub(in crate::http::server) struct Outbox {
    waiting: Lock<Waiting>,
    /// Nothing is left to send.
    emptied: Notify,
}

#[derive(Default)]
struct Waiting {
    changes: BTreeSet<Announcement>,
    /// A change was taken out, and the store does not have it yet.
    is_sending: bool,
    waker: Waiter,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.is_sending
    }
}

impl Outbox {
    /// Notes a change: this is called where no runtime may run.
    pub(in crate::http::server) fn report(&self, change: &Announcement) {
        let waker = {
            let mut waiting = self.waiting.lock();
            if waiting.changes.len() >= MAX_CHANGES {
                // Of a resource, as long as there is one: few lists wait, and more depends on them.
                waiting.changes.pop_last();
            }
            waiting.changes.insert(change.clone());
            waiting.waker.take()
        };
        waker.wake();
    }

    /// Waits for a change, which stays until it is [taken](Self::remove).
    pub(in crate::http::server) async fn next(&self) -> Announcement {
        poll_fn(|cx| {
            let mut waiting = self.waiting.lock();
            if let Some(change) = waiting.changes.first() {
                return Poll::Ready(change.clone());
            }
            waiting.waker.register(cx);
            Poll::Pending
        })
        .await
    }

    /// A change is about to be sent. One that is reported from now on is another one.
    pub(in crate::http::server) fn remove(&self, change: &Announcement) {
        let waiting = &mut *self.waiting.lock();
        waiting.changes.remove(change);
        waiting.is_sending = true;
    }

    /// The store has the change, or it was reported again.
    pub(in crate::http::server) fn sent(&self) {
        let is_empty = {
            let waiting = &mut *self.waiting.lock();
            waiting.is_sending = false;
            waiting.is_empty()
        };
        if is_empty {
            self.emptied.notify_waiters();
        }
    }

    /// Returns true if the store has every change.
    pub(in crate::http::server) fn is_empty(&self) -> bool {
        self.waiting.lock().is_empty()
    }

    /// Waits until the store has every change.
    pub(in crate::http::server) async fn emptied(&self) {
        loop {
            // First, so that no end of sending goes unseen.
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }
}

/// Changes that wait to be sent. Beyond that some are dropped.
const MAX_CHANGES: usize = 10_000;
