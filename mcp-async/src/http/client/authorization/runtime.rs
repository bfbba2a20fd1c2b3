//! The functions of a runtime that authorization uses, without the runtime's type.

use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_auth::UnixTime;

use crate::net::time::{Either, RuntimeSleep, race};
use crate::runtime::{Runtime, Task};

/// Tasks and timers of a runtime.
#[derive(Clone, Copy)]
pub(in crate::http::client) struct Functions {
    pub(super) spawn: fn(Task),
    sleep: fn(Duration) -> Task,
}

impl Functions {
    pub(in crate::http::client) fn of<R: Runtime>() -> Self {
        Self {
            spawn: R::spawn,
            sleep: |duration| Box::pin(RuntimeSleep::<R>::after(duration)),
        }
    }

    /// Done after this time.
    pub(super) fn sleep(self, duration: Duration) -> Task {
        (self.sleep)(duration)
    }

    /// Returns the output of a future, unless it takes longer than the limit.
    pub(in crate::http::client) async fn within<F: Future>(
        self,
        limit: Duration,
        future: F,
    ) -> Option<F::Output> {
        match race(pin!(future), (self.sleep)(limit)).await {
            Either::Left(output) => Some(output),
            Either::Right(()) => None,
        }
    }
}

/// The time of day. It is read each time, because a monotonic clock may stop while the machine
/// sleeps.
pub(super) fn unix_now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixTime::from_secs(since.map_or(0, |since| since.as_secs()))
}
