//! A runtime that a program advances by hand.

use core::fmt;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, MutexGuard};
use std::task::Wake;

use mcp_proto::Instant;

use super::{BoxTimer, Runtime, Task, Timer, Work};
use crate::sync::Lock;

/// A [`Runtime`] whose time passes, and whose tasks run, when the program says so; clones are the same one.
///
/// It is for tests and simulations. Several can live in one process, each with a time of its own. It has no sockets and
/// no child processes.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::runtime::ManualRuntime;
///
/// let runtime = ManualRuntime::default();
/// runtime.advance(Duration::from_secs(5));
/// assert_eq!(runtime.run(), 0, "no task goes on");
/// ```
#[derive(Clone, Default)]
pub struct ManualRuntime(Arc<Lock<State>>);

#[derive(Default)]
struct State {
    now: Instant,
    timers: Vec<Option<(Instant, Waker)>>,
    /// The places of dropped timers.
    free: Vec<usize>,
    tasks: Vec<Spawned>,
}

struct Spawned {
    task: Task,
    flag: Arc<Flag>,
}

/// True if a task has to be polled: at first, and whenever it was woken since.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl ManualRuntime {
    /// Moves the time on and wakes every timer whose moment has come.
    pub fn advance(&self, by: Duration) {
        let due: Vec<Waker> = {
            let mut state = self.state();
            let now = state.now + by;
            state.now = now;
            state
                .timers
                .iter_mut()
                .filter_map(|timer| timer.take_if(|(deadline, _)| *deadline <= now))
                .map(|(_, waker)| waker)
                .collect()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// Returns the earliest moment that a timer waits for.
    pub fn next_deadline(&self) -> Option<Instant> {
        let state = self.state();
        state.timers.iter().flatten().map(|(at, _)| *at).min()
    }

    /// Polls the tasks that were woken until none is, and returns how many go on.
    pub fn run(&self) -> usize {
        loop {
            let mut tasks = core::mem::take(&mut self.state().tasks);
            let mut is_idle = true;
            tasks.retain_mut(|spawned| {
                if !spawned.flag.0.swap(false, Ordering::SeqCst) {
                    return true;
                }
                is_idle = false;
                let waker = Waker::from(Arc::clone(&spawned.flag));
                let cx = &mut Context::from_waker(&waker);
                spawned.task.as_mut().poll(cx).is_pending()
            });
            let mut state = self.state();
            is_idle &= state.tasks.is_empty();
            // Tasks that they spawned come behind them.
            tasks.append(&mut state.tasks);
            state.tasks = tasks;
            if is_idle {
                return state.tasks.len();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Runtime for ManualRuntime {
    fn now(&self) -> Instant {
        self.state().now
    }

    fn timer(&self) -> BoxTimer {
        let state = &mut *self.state();
        let index = state.free.pop().unwrap_or_else(|| {
            state.timers.push(None);
            state.timers.len() - 1
        });
        Box::pin(ManualTimer {
            index,
            runtime: self.clone(),
        })
    }

    /// The task is polled by [`run`](ManualRuntime::run).
    fn spawn(&self, task: Task) {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        self.state().tasks.push(Spawned { task, flag });
    }

    /// The closure is called by [`run`](ManualRuntime::run).
    fn spawn_blocking(&self, work: Work) {
        self.spawn(Box::pin(async move { work() }));
    }
}

impl fmt::Debug for ManualRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualRuntime")
            .field(&self.state().now)
            .finish()
    }
}

/// A timer of a [`ManualRuntime`].
struct ManualTimer {
    runtime: ManualRuntime,
    index: usize,
}

impl Timer for ManualTimer {
    fn poll_until(self: Pin<&mut Self>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.runtime.state();
        let due = state.now >= deadline;
        if let Some(timer) = state.timers.get_mut(self.index) {
            *timer = (!due).then(|| (deadline, cx.waker().clone()));
        }
        if due { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for ManualTimer {
    fn drop(&mut self) {
        let _waker = {
            let state = &mut *self.runtime.state();
            state.free.push(self.index);
            state.timers.get_mut(self.index).and_then(Option::take)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_timers_leave_their_places_to_others() {
        let runtime = ManualRuntime::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut kept = runtime.timer();
        let later = Instant::from_millis(9);
        assert!(kept.as_mut().poll_until(later, &mut cx).is_pending());
        for _ in 0..3 {
            let mut timer = runtime.timer();
            let sooner = Instant::from_millis(5);
            assert!(timer.as_mut().poll_until(sooner, &mut cx).is_pending());
            assert_eq!(runtime.next_deadline(), Some(sooner));
        }
        assert_eq!(runtime.next_deadline(), Some(later));
        assert_eq!(runtime.state().timers.len(), 2);
    }
}
