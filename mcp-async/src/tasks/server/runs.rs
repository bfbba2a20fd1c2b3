//! The tasks that run in this process, and their end with the server.

use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_proto::Instant;

use crate::connection::register;
use crate::lock::lock;
use crate::shrink::shrink;

/// The tasks of one server that run in this process.
#[derive(Default)]
pub(super) struct Runs(Mutex<State>);

#[derive(Default)]
struct State {
    phase: Phase,
    /// The number of servers that have these tasks.
    servers: usize,
    /// The number of those servers that have ended.
    ended: usize,
    /// The number of the newest task, or other work.
    last: u64,
    /// The wakers of the tasks that run, by their numbers.
    running: HashMap<u64, Option<Waker>>,
    /// The wakers of other work that ends with the last server, by their numbers.
    ending: HashMap<u64, Option<Waker>>,
    /// Wakers of futures that wait until no task runs.
    waiting: Vec<Waker>,
}

/// The phases of the servers, which decide whether tasks may run.
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

/// Other work on tasks, which ends when these are stopped. Dropping it ends that.
pub(super) struct Ending {
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

    /// Begins other work, which is over at once if the tasks are stopped.
    pub(super) fn ending(self: &Arc<Self>) -> Ending {
        let state = &mut *self.lock();
        state.last = state.last.wrapping_add(1);
        if state.phase != Phase::Stopped {
            state.ending.insert(state.last, None);
        }
        Ending {
            runs: Arc::clone(self),
            number: state.last,
        }
    }

    /// Returns an error with the limit if no task may begin at this time.
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

    /// Returns the number of tasks that run.
    pub(super) fn running(&self) -> usize {
        self.lock().running.len()
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
        lock(&self.0)
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
        let mut wakers: Vec<Waker> = wakers.collect();
        if phase == Phase::Stopped {
            // It stays over, also if the server is served again.
            let ending = core::mem::take(&mut self.ending);
            wakers.extend(ending.into_values().flatten());
        }
        wakers
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

impl Ending {
    /// Ready when the tasks are stopped.
    pub(super) fn poll_stopped(&self, cx: &Context<'_>) -> Poll<()> {
        let _replaced = {
            let state = &mut *self.runs.lock();
            match state.ending.get_mut(&self.number) {
                Some(Some(waker)) if waker.will_wake(cx.waker()) => None,
                Some(waker) => waker.replace(cx.waker().clone()),
                None => return Poll::Ready(()),
            }
        };
        Poll::Pending
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _waker = {
            let state = &mut *self.runs.lock();
            let waker = state.ending.remove(&self.number);
            shrink(&mut state.ending);
            waker
        };
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (_waker, waiting) = {
            let state = &mut *self.runs.lock();
            let waker = state.running.remove(&self.number);
            shrink(&mut state.running);
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
