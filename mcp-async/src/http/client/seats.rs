//! Limits the exchanges that no call waits for.

use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The exchanges that carry notifications and answers to questions: a server that asks without
/// end and takes no answer would otherwise have the client hold one for each.
#[derive(Clone, Default)]
pub(super) struct Seats(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    count: usize,
    writer: Option<Waker>,
}

/// The place of one of them, given back when it is dropped.
pub(super) struct Seat(Seats);

impl Seats {
    /// Whether there is a free one; the task is woken when there is.
    pub(super) fn poll_free(&self, cx: &Context<'_>) -> Poll<()> {
        let mut taken = self.taken();
        if taken.count < SEATS {
            return Poll::Ready(());
        }
        taken.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Takes a free one.
    pub(super) fn take(&self) -> Option<Seat> {
        let mut taken = self.taken();
        if taken.count >= SEATS {
            return None;
        }
        taken.count += 1;
        Some(Seat(self.clone()))
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let writer = {
            let mut taken = self.0.taken();
            taken.count = taken.count.saturating_sub(1);
            taken.writer.take()
        };
        writer.into_iter().for_each(Waker::wake);
    }
}

/// Far more than a server that listens leaves open.
const SEATS: usize = 256;
