//! Waiting for a moment.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use mcp_proto::Instant;

use super::{BoxTimer, RuntimeHandle};
use crate::sync::Lock;

/// Done when a moment has come; it can be armed again for another.
pub(crate) struct Sleep {
    runtime: RuntimeHandle,
    /// Made when there is something to wait for. Behind a lock that is never taken: hyper wants its sleeps `Sync`, and
    /// a timer need not be.
    timer: Lock<Option<BoxTimer>>,
    deadline: Instant,
    /// The moment for which the timer was armed, and the task that it will wake.
    armed: Option<(Instant, Waker)>,
}

impl Sleep {
    pub(crate) fn until(runtime: &RuntimeHandle, deadline: Instant) -> Self {
        Self {
            runtime: runtime.clone(),
            timer: Lock::new(None),
            deadline,
            armed: None,
        }
    }

    pub(crate) fn after(runtime: &RuntimeHandle, duration: Duration) -> Self {
        Self::until(runtime, runtime.now() + duration)
    }

    pub(crate) const fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Waits so long from now on.
    pub(crate) fn restart(&mut self, duration: Duration) {
        self.deadline = self.runtime.now() + duration;
    }

    pub(crate) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_mut();
        let is_due = || self.runtime.now() >= self.deadline;
        if is_due() {
            return Poll::Ready(());
        }
        // To look at the clock takes less than to poll the timer again.
        let is_armed = self
            .armed
            .as_ref()
            .is_some_and(|(at, task)| *at == self.deadline && task.will_wake(cx.waker()));
        if is_armed {
            return Poll::Pending;
        }
        let timer = timer.get_or_insert_with(|| self.runtime.timer());
        if timer.as_mut().poll_until(self.deadline, cx).is_pending() {
            self.armed = Some((self.deadline, cx.waker().clone()));
            return Poll::Pending;
        }
        if !is_due() {
            // Other tasks run before the timer is armed again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_done(cx)
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};
    use core::task::Waker;
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;
    use crate::runtime::{Runtime, Task, Timer, Work};

    /// A clock that stands still, with timers that fire at once.
    #[derive(Debug)]
    struct Early;

    impl Runtime for Early {
        fn now(&self) -> Instant {
            Instant::ZERO
        }

        fn timer(&self) -> BoxTimer {
            Box::pin(Fired)
        }

        fn spawn(&self, _: Task) {}

        fn spawn_blocking(&self, _: Work) {}
    }

    struct Fired;

    impl Timer for Fired {
        fn poll_until(self: Pin<&mut Self>, _: Instant, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_timer_that_is_ready_early_is_polled_again_later() {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut sleep = Sleep::after(&Early.into(), Duration::from_secs(1));
        let polled = sleep.poll_done(&mut Context::from_waker(&waker));
        assert_eq!(
            (polled, wakes.0.load(Ordering::Relaxed)),
            (Poll::Pending, 1)
        );
    }
}
