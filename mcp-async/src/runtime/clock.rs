//! Clocks and timers.

use core::fmt;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_proto::Instant;

use crate::lock::lock;

/// A monotonic clock and the timers that go by it; one for each runtime.
///
/// The connection future and its handles ask it for the time, so everything of one connection
/// lives on one time line, and a test can bring a [`ManualClock`].
pub trait Clock: Send + Sync + 'static {
    /// The type of the timers that [`timer`](Self::timer) returns.
    type Timer: Timer;

    /// The present moment: milliseconds since an epoch that never changes, never going back.
    fn now(&self) -> Instant;

    /// A timer of this clock, not armed. A connection makes one in its life.
    fn timer(&self) -> Self::Timer;
}

/// Waits for one moment at a time.
pub trait Timer: Send + Unpin + 'static {
    /// Ready once `deadline` has come; else the task is woken when it does.
    ///
    /// The timer keeps only the last registration. A connection calls this for a new deadline
    /// or from a new task, not on every turn: the registration stays until it fires. Firing
    /// early is allowed (the connection asks the clock) but costs a turn, so round up.
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()>;
}

impl<C: Clock> Clock for Arc<C> {
    type Timer = C::Timer;

    fn now(&self) -> Instant {
        (**self).now()
    }

    fn timer(&self) -> C::Timer {
        (**self).timer()
    }
}

/// A [`Clock`] whose type is of no interest: what a handle needs.
pub(crate) trait Now: Send + Sync {
    fn now(&self) -> Instant;

    #[cfg(any(feature = "client", feature = "server"))]
    fn boxed_timer(&self) -> Box<dyn Timer>;
}

impl<C: Clock> Now for C {
    fn now(&self) -> Instant {
        Clock::now(self)
    }

    #[cfg(any(feature = "client", feature = "server"))]
    fn boxed_timer(&self) -> Box<dyn Timer> {
        Box::new(self.timer())
    }
}

/// A clock that the program advances; clones show the same time.
#[derive(Clone, Default)]
pub struct ManualClock(Arc<Mutex<Dial>>);

#[derive(Default)]
struct Dial {
    now: Instant,
    timers: Vec<Option<(Instant, Waker)>>,
    /// The places of dropped timers.
    free: Vec<usize>,
}

impl ManualClock {
    /// Moves the time on and wakes every timer whose moment has come.
    pub fn advance(&self, by: Duration) {
        let due: Vec<Waker> = {
            let mut dial = self.dial();
            let now = dial.now + by;
            dial.now = now;
            dial.timers
                .iter_mut()
                .filter_map(|timer| timer.take_if(|(deadline, _)| *deadline <= now))
                .map(|(_, waker)| waker)
                .collect()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// The earliest moment that a timer waits for.
    pub fn next_deadline(&self) -> Option<Instant> {
        let dial = self.dial();
        dial.timers.iter().flatten().map(|(at, _)| *at).min()
    }

    fn dial(&self) -> MutexGuard<'_, Dial> {
        lock(&self.0)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock")
            .field(&self.dial().now)
            .finish()
    }
}

impl Clock for ManualClock {
    type Timer = ManualTimer;

    fn now(&self) -> Instant {
        self.dial().now
    }

    fn timer(&self) -> ManualTimer {
        let dial = &mut *self.dial();
        let index = dial.free.pop().unwrap_or_else(|| {
            dial.timers.push(None);
            dial.timers.len() - 1
        });
        ManualTimer {
            index,
            clock: self.clone(),
        }
    }
}

/// A timer of a [`ManualClock`].
#[derive(Debug)]
pub struct ManualTimer {
    clock: ManualClock,
    index: usize,
}

impl Timer for ManualTimer {
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut dial = self.clock.dial();
        let due = dial.now >= deadline;
        if let Some(timer) = dial.timers.get_mut(self.index) {
            *timer = (!due).then(|| (deadline, cx.waker().clone()));
        }
        if due { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for ManualTimer {
    fn drop(&mut self) {
        let _waker = {
            let dial = &mut *self.clock.dial();
            dial.free.push(self.index);
            dial.timers.get_mut(self.index).and_then(Option::take)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_timers_leave_their_places_to_others() {
        let clock = ManualClock::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut kept = clock.timer();
        assert!(
            kept.poll_until(Instant::from_millis(9), &mut cx)
                .is_pending()
        );
        for _ in 0..3 {
            let mut timer = clock.timer();
            let sooner = Instant::from_millis(5);
            assert!(timer.poll_until(sooner, &mut cx).is_pending());
            assert_eq!(clock.next_deadline(), Some(sooner));
        }
        assert_eq!(clock.next_deadline(), Some(Instant::from_millis(9)));
        assert_eq!(clock.dial().timers.len(), 2);
    }
}
