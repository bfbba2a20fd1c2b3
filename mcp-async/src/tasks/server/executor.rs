//! The part of a runtime that the engine of tasks uses.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Poll, ready};
use core::time::Duration;

use mcp_proto::Instant;

use crate::io::stdio::Sleep;
use crate::runtime::{Runtime, Task, Timer};

/// Tasks and time of one runtime.
#[derive(Clone, Copy)]
pub(super) struct Executor {
    pub(super) spawn: fn(Task),
    pub(super) now: fn() -> Instant,
    pub(super) sleep: fn(Duration) -> Sleep,
}

impl Executor {
    pub(super) fn of<R: Runtime>() -> Self {
        Self {
            spawn: R::spawn,
            now: || R::default().now(),
            sleep: |duration| {
                let clock = R::default();
                let now = clock.now();
                let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
                let deadline = Instant::from_millis(now.as_millis().saturating_add(millis));
                let mut timer = None;
                Box::pin(poll_fn(move |cx| {
                    // A timer may fire early.
                    while clock.now() < deadline {
                        let timer = timer.get_or_insert_with(|| clock.timer());
                        ready!(timer.poll_until(deadline, cx));
                    }
                    Poll::Ready(())
                }))
            },
        }
    }

    /// The output of the future, or `None` after this time.
    pub(super) async fn within<T>(
        self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let mut future = pin!(future);
        let mut sleep = None;
        poll_fn(|cx| {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(value));
            }
            // Most are ready at once, and need no timer.
            let sleep = sleep.get_or_insert_with(|| (self.sleep)(limit));
            sleep.as_mut().poll(cx).map(|()| None)
        })
        .await
    }
}
