use core::fmt;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use mcp_async::{Clock, monotonic};
use mcp_proto::Instant;
use tokio::task::coop::unconstrained;

use crate::Runtime;

/// A timer of the runtime.
///
/// # Panics
///
/// When it is armed outside of the runtime, or the runtime has no time driver.
///
/// ```
/// use mcp_async::Timer as _;
/// use mcp_proto::Instant;
///
/// /// Waits until a moment of the runtime's clock.
/// async fn until(deadline: Instant) {
///     let mut timer = mcp_tokio::Timer::default();
///     core::future::poll_fn(|cx| timer.poll_until(deadline, cx)).await;
/// }
/// ```
#[derive(Default)]
pub struct Timer {
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl mcp_async::Timer for Timer {
    fn poll_until(&mut self, deadline: Instant, task: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = monotonic::moment(deadline) else {
            return Poll::Pending;
        };
        let moment = moment.into();
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(moment)));
        if sleep.deadline() != moment {
            sleep.as_mut().reset(moment);
        }
        // In a task that has used its budget up, the sleep would ask for another poll and register nothing.
        pin!(unconstrained(sleep)).poll(task)
    }
}

impl Clock for Runtime {
    type Timer = Timer;

    fn now(&self) -> Instant {
        monotonic::now()
    }

    fn timer(&self) -> Timer {
        Timer::default()
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
