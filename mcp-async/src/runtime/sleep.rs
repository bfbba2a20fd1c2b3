//! Waiting for a moment.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use mcp_proto::Instant;

use super::{BoxTimer, RuntimeHandle};

/// Done when a moment has come; it can be armed again for another.
pub(crate) struct Sleep {
    runtime: RuntimeHandle,
    /// Made when there is something to wait for. Behind a lock that is never taken: hyper wants its sleeps `Sync`, and
    /// a timer need not be.
    timer: Mutex<Option<BoxTimer>>,
    deadline: Instant,
}

impl Sleep {
    pub(crate) fn until(runtime: &RuntimeHandle, deadline: Instant) -> Self {
        Self {
            runtime: runtime.clone(),
            timer: Mutex::new(None),
            deadline,
        }
    }

    pub(crate) fn after(runtime: &RuntimeHandle, duration: Duration) -> Self {
        Self::until(runtime, runtime.now() + duration)
    }

    #[cfg(any(feature = "server", feature = "client"))]
    pub(crate) const fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Waits so long from now on.
    #[cfg(feature = "http-server")]
    pub(crate) fn restart(&mut self, duration: Duration) {
        self.deadline = self.runtime.now() + duration;
    }

    pub(crate) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_mut();
        let timer = timer.unwrap_or_else(PoisonError::into_inner);
        // A timer may fire early, so the clock is asked.
        while self.runtime.now() < self.deadline {
            let timer = timer.get_or_insert_with(|| self.runtime.timer());
            ready!(timer.as_mut().poll_until(self.deadline, cx));
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
