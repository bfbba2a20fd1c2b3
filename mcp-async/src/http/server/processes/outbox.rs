//! Changes of this process that the others do not know yet.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use crate::lock::lock;
use crate::server::Announcement;

/// Changes that the other processes do not know yet, each once.
#[derive(Default)]
pub(super) struct Outbox(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    changes: BTreeSet<Announcement>,
    waker: Option<Waker>,
}

impl Outbox {
    /// Notes a change: this is called where no runtime may run.
    pub(super) fn report(&self, change: &Announcement) {
        let waker = {
            let mut waiting = self.lock();
            if waiting.changes.len() >= MAX_CHANGES {
                waiting.changes.pop_first();
            }
            waiting.changes.insert(change.clone());
            waiting.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for a change, which stays until it is [taken](Self::remove).
    pub(super) async fn next(&self) -> Announcement {
        poll_fn(|cx| {
            let mut waiting = self.lock();
            if let Some(change) = waiting.changes.first() {
                return Poll::Ready(change.clone());
            }
            waiting.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// A change is about to be sent. One that is reported from now on is another one.
    pub(super) fn remove(&self, change: &Announcement) {
        self.lock().changes.remove(change);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }
}

/// Changes that wait to be sent. Beyond that some are dropped.
const MAX_CHANGES: usize = 10_000;
