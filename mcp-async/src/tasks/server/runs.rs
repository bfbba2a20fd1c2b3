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

    /// Enters a phase. A later one is not left for an earlier one.
    pub(super) fn enter(&self, phase: Phase) {
        let wakers = {
            let state = &mut *self.lock();
            match (state.phase, phase) {
                (Phase::Open, _) | (_, Phase::Stopped) => state.phase = phase,
                _ => return,
            }
            let wakers = state.running.values_mut().filter_map(Option::take);
            wakers.collect::<Vec<_>>()
        };
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

    /// A server was dropped. Returns whether it was the last one.
    pub(super) fn detach(&self) -> bool {
        let state = &mut *self.lock();
        state.servers = state.servers.saturating_sub(1);
        state.servers == 0
    }

    /// Lets tasks begin again.
    pub(super) fn reopen(&self) {
        self.lock().phase = Phase::Open;
    }

    /// Ready when no task runs.
    pub(super) fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        let state = &mut *self.lock();
        if state.running.is_empty() {
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
