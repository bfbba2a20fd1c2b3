//! Limits the exchanges that no call waits for.

use core::task::{Context, Poll};
use std::sync::{Arc, MutexGuard};

use crate::sync::{Lock, Waiter};

/// The exchanges that carry notifications and answers to questions: a server that asks without
/// end and takes no answer would otherwise have the client hold one for each.
#[derive(Clone, Default)]
pub(super) struct Permits(Arc<Lock<State>>);

#[derive(Default)]
struct State {
    count: usize,
    writer: Waiter,
}

/// The place of one of them, given back when it is dropped.
pub(super) struct Permit(Permits);

impl Permits {
    /// Ready when a permit is free; the task is woken when one is.
    pub(super) fn poll_free(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.count < PERMITS {
            return Poll::Ready(());
        }
        state.writer.register(cx);
        Poll::Pending
    }

    /// Takes a free one.
    pub(super) fn acquire(&self) -> Option<Permit> {
        let mut state = self.state();
        if state.count >= PERMITS {
            return None;
        }
        state.count += 1;
        Some(Permit(self.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let writer = {
            let mut state = self.0.state();
            state.count = state.count.saturating_sub(1);
            state.writer.take()
        };
        writer.wake();
    }
}

/// Far more than a server that listens leaves open.
const PERMITS: usize = 256;
