//! The tasks that run in this process, and their end with the server.

use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::Instant;

use crate::connection::register;

/// The tasks of one server that run in this process.
#[derive(Default)]
pub(super) struct Runs(Mutex<State>);

#[derive(Default)]
struct State {
    phase: Phase,
    /// How many servers there are that have these tasks.
    servers: usize,
    /// How many of them have ended.
    ended: usize,
    /// The number of the newest task.
    last: u64,
    /// The wakers of the tasks that run, by their numbers.
    running: HashMap<u64, Option<Waker>>,
    /// Wakers of futures that wait until no task runs.
    waiting: Vec<Waker>,
}

/// Whether tasks may run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Open,
    /// The server ends: until this time.
    Until(Instant),
    Stopped,
}

/// A task that runs. Dropping it ends that.
pub(super) struct Running {
    runs: Arc<Runs>,
    number: u64,
}

impl Runs {
    /// Begins a task at this time, unless so many run or the server ends.
    pub(super) fn begin(
        self: &Arc<Self>,
        now: Instant,
        max: usize,
    ) -> Result<Running, &'static str> {
        let state = &mut *self.lock();
        state.may_begin(now, max)?;
        state.last = state.last.wrapping_add(1);
        state.running.insert(state.last, None);
        Ok(Running {
            runs: Arc::clone(self),
            number: state.last,
        })
    }

    /// Whether a task may begin at this time.
    pub(super) fn may_begin(&self, now: Instant, max: usize) -> Result<(), &'static str> {
        self.lock().may_begin(now, max)
    }

    /// A server ends. With the last one tasks may run until this time.
    pub(super) fn end_server(&self, end: Instant) {
        let wakers = {
            let state = &mut *self.lock();
            state.ended = state.ended.saturating_add(1);
            state.enter(Phase::Until(end))
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends the tasks, unless there is a server that has not ended.
    pub(super) fn stop(&self) {
        let wakers = self.lock().enter(Phase::Stopped);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Counts a server. Its tasks may run.
    pub(super) fn attach(&self) {
        let state = &mut *self.lock();
        if state.servers == 0 {
            state.phase = Phase::Open;
        }
        state.servers = state.servers.saturating_add(1);
    }

    /// A server was dropped. Without any the tasks end.
    pub(super) fn detach(&self) {
        let wakers = {
            let state = &mut *self.lock();
            state.servers = state.servers.saturating_sub(1);
            match state.servers {
                0 => state.enter(Phase::Stopped),
                _ => Vec::new(),
            }
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A server that has ended is served again, or is dropped: tasks may begin.
    pub(super) fn reopen(&self) {
        let waiting = {
            let state = &mut *self.lock();
            state.ended = state.ended.saturating_sub(1);
            state.phase = Phase::Open;
            core::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ready when no task has to end.
    pub(super) fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        let state = &mut *self.lock();
        if state.running.is_empty() || state.phase == Phase::Open {
            return Poll::Ready(());
        }
        register(&mut state.waiting, cx);
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Enters a phase if all servers have ended; a later one is not left for an earlier one. Returns
    /// the tasks to wake.
    fn enter(&mut self, phase: Phase) -> Vec<Waker> {
        let is_later = matches!((self.phase, phase), (Phase::Open, _) | (_, Phase::Stopped));
        if self.ended < self.servers || !is_later {
            return Vec::new();
        }
        self.phase = phase;
        let wakers = self.running.values_mut().filter_map(Option::take);
        wakers.collect()
    }

    fn may_begin(&self, now: Instant, max: usize) -> Result<(), &'static str> {
        match self.phase {
            Phase::Until(end) if now >= end => Err(SHUTDOWN),
            Phase::Stopped => Err(SHUTDOWN),
            _ if self.running.len() >= max => Err("limit reached: tasks that run"),
            _ => Ok(()),
        }
    }
}

impl Running {
    /// Returns the phase. The task is woken when it changes.
    pub(super) fn phase(&self, cx: &Context<'_>) -> Phase {
        let (phase, _replaced) = {
            let state = &mut *self.runs.lock();
            let waker = state.running.entry(self.number).or_default();
            let is_known = waker.as_ref().is_some_and(|it| it.will_wake(cx.waker()));
            let replaced = match is_known {
                true => None,
                false => waker.replace(cx.waker().clone()),
            };
            (state.phase, replaced)
        };
        phase
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (_waker, waiting) = {
            let state = &mut *self.runs.lock();
            let waker = state.running.remove(&self.number);
            // A table that was large once does not stay so.
            if state.running.len() < state.running.capacity() / 8 {
                let room = state.running.len().saturating_mul(2);
                state.running.shrink_to(room);
            }
            let waiting = match state.running.is_empty() {
                true => core::mem::take(&mut state.waiting),
                false => Vec::new(),
            };
            (waker, waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// The status message of a task that ended with its server.
pub(super) const SHUTDOWN: &str = "the server is shutting down";
