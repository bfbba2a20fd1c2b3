//! Futures that run in the task of the client.

use core::task::{Context, Poll};

use crate::runtime::BoxFuture;
use crate::sync::{Lock, Waiter};

/// Futures that wait for the supervisor to run them.
#[derive(Default)]
pub(in crate::client) struct Background(Lock<State>);

#[derive(Default)]
struct State {
    jobs: Vec<BoxFuture<'static, ()>>,
    supervisor: Waiter,
}

impl Background {
    pub(in crate::client) fn push(&self, job: BoxFuture<'static, ()>) {
        let waker = {
            let mut state = self.0.lock();
            state.jobs.push(job);
            state.supervisor.take()
        };
        waker.wake();
    }

    /// Moves the futures that wait to those that run, and polls all of these.
    pub(in crate::client) fn poll(
        &self,
        running: &mut Vec<BoxFuture<'static, ()>>,
        cx: &mut Context<'_>,
    ) {
        {
            let mut state = self.0.lock();
            running.append(&mut state.jobs);
            state.supervisor.register(cx);
        }
        running.retain_mut(|job| job.as_mut().poll(cx) == Poll::Pending);
    }

    /// Drops the futures that wait: their connection has ended.
    pub(in crate::client) fn clear(&self) {
        // Dropped outside the lock: they are the user's.
        let _jobs = core::mem::take(&mut self.0.lock().jobs);
    }
}
