//! The tasks that run in this process, and their end with the server.

use core::future::Future;
use core::task::{Context, Poll};
use std::sync::Arc;

use mcp_proto::Instant;

use crate::connection::Notify;
use crate::runtime::{Either, RuntimeHandle, Sleep, race};
use crate::sync::{Lock, Waiters};

/// The tasks of one server that run in this process.
#[derive(Default)]
pub(super) struct Runs {
    state: Lock<State>,
    /// Another phase has begun.
    entered: Notify,
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// The number of servers that have these tasks.
    servers: usize,
    /// The number of those servers that have ended.
    ended: usize,
    /// The number of tasks that run.
    running: usize,
    /// The number of times that the tasks were stopped.
    stops: u64,
    /// Wakers of futures that wait until no task runs.
    waiting: Waiters,
}

/// The phases of the servers, which decide whether tasks may run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// The server ends: until this time.
    Until(Instant),
    Stopped,
}

/// A task that runs. Dropping it ends that.
pub(super) struct Running(Arc<Runs>);

impl Runs {
    /// Begins a task at this time, unless so many run or the server ends.
    pub(super) fn begin(
        self: &Arc<Self>,
        now: Instant,
        max: usize,
    ) -> Result<Running, &'static str> {
        let state = &mut *self.state.lock();
        state.may_begin(now, max)?;
        state.running = state.running.saturating_add(1);
        Ok(Running(Arc::clone(self)))
    }

    /// Returns an error with the limit if no task may begin at this time.
    pub(super) fn may_begin(&self, now: Instant, max: usize) -> Result<(), &'static str> {
        self.state.lock().may_begin(now, max)
    }

    /// Returns true if tasks have to end by now.
    pub(super) fn is_closed(&self, now: Instant) -> bool {
        match self.state.lock().phase {
            Phase::Open => false,
            Phase::Until(end) => end <= now,
            Phase::Stopped => true,
        }
    }

    /// Waits until tasks have to end: they are stopped, or the time is over that they have after
    /// the end of the servers.
    pub(super) async fn closed(&self, runtime: &RuntimeHandle) {
        loop {
            let entered = self.entered.notified();
            let phase = self.state.lock().phase;
            match phase {
                Phase::Open => entered.await,
                Phase::Until(end) => match race(entered, Sleep::until(runtime, end)).await {
                    Either::Left(()) => {}
                    Either::Right(()) => return,
                },
                Phase::Stopped => return,
            }
        }
    }

    /// Waits until the tasks are stopped, or have been since this was called. They stay so for work
    /// that is about them, also if the server is served again.
    pub(super) fn stopped(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let runs = Arc::clone(self);
        let known = self.state.lock().stops;
        async move {
            loop {
                let entered = runs.entered.notified();
                {
                    let state = runs.state.lock();
                    if state.phase == Phase::Stopped || state.stops != known {
                        return;
                    }
                }
                entered.await;
            }
        }
    }

    /// A server ends. With the last one tasks may run until this time.
    pub(super) fn end_server(&self, end: Instant) {
        {
            let state = &mut *self.state.lock();
            state.ended = state.ended.saturating_add(1);
            state.enter(Phase::Until(end));
        }
        self.entered.notify_waiters();
    }

    /// Ends the tasks, unless there is a server that has not ended.
    pub(super) fn stop(&self) {
        self.state.lock().enter(Phase::Stopped);
        self.entered.notify_waiters();
    }

    /// Counts a server. Its tasks may run.
    pub(super) fn attach(&self) {
        let state = &mut *self.state.lock();
        if state.servers == 0 {
            state.phase = Phase::Open;
        }
        state.servers = state.servers.saturating_add(1);
    }

    /// A server was dropped. Without any the tasks end.
    pub(super) fn detach(&self) {
        {
            let state = &mut *self.state.lock();
            state.servers = state.servers.saturating_sub(1);
            if state.servers == 0 {
                state.enter(Phase::Stopped);
            }
        }
        self.entered.notify_waiters();
    }

    /// A server that has ended is served again, or is dropped: tasks may begin.
    pub(super) fn reopen(&self) {
        let waiting = {
            let state = &mut *self.state.lock();
            state.ended = state.ended.saturating_sub(1);
            state.phase = Phase::Open;
            state.waiting.take()
        };
        self.entered.notify_waiters();
        waiting.wake();
    }

    /// Returns the number of tasks that run.
    pub(super) fn running(&self) -> usize {
        self.state.lock().running
    }

    /// Ready when no task has to end.
    pub(super) fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        let state = &mut *self.state.lock();
        if state.running == 0 || state.phase == Phase::Open {
            return Poll::Ready(());
        }
        state.waiting.register(cx);
        Poll::Pending
    }
}

impl State {
    /// Enters a phase if all servers have ended; a later one is not left for an earlier one.
    fn enter(&mut self, phase: Phase) {
        let is_later = matches!((self.phase, phase), (Phase::Open, _) | (_, Phase::Stopped));
        if self.ended < self.servers || !is_later {
            return;
        }
        self.phase = phase;
        if phase == Phase::Stopped {
            self.stops = self.stops.wrapping_add(1);
        }
    }

    fn may_begin(&self, now: Instant, max: usize) -> Result<(), &'static str> {
        match self.phase {
            Phase::Until(end) if now >= end => Err(SHUTDOWN),
            Phase::Stopped => Err(SHUTDOWN),
            _ if self.running >= max => Err("limit reached: tasks that run"),
            _ => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let waiting = {
            let state = &mut *self.0.state.lock();
            state.running = state.running.saturating_sub(1);
            match state.running {
                0 => state.waiting.take(),
                _ => Waiters::new(),
            }
        };
        waiting.wake();
    }
}

/// The status message of a task that ended with its server.
pub(super) const SHUTDOWN: &str = "the server is shutting down";
