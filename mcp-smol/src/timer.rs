use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use mcp_async::{Clock, monotonic};
use mcp_proto::Instant;

use crate::Runtime;

/// A timer of the reactor.
///
/// ```
/// use mcp_async::Timer as _;
/// use mcp_proto::Instant;
///
/// /// Waits until a moment of the runtime's clock.
/// async fn until(deadline: Instant) {
///     let mut timer = mcp_smol::Timer::default();
///     core::future::poll_fn(|cx| timer.poll_until(deadline, cx)).await;
/// }
/// ```
#[derive(Default)]
pub struct Timer {
    sleep: Option<(std::time::Instant, smol::Timer)>,
}

impl mcp_async::Timer for Timer {
    fn poll_until(&mut self, deadline: Instant, task: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = monotonic::moment(deadline) else {
            return Poll::Pending;
        };
        let (armed, sleep) = self
            .sleep
            .get_or_insert_with(|| (moment, smol::Timer::at(moment)));
        if *armed != moment {
            *armed = moment;
            sleep.set_at(moment);
        }
        let polled = Pin::new(sleep).poll(task).map(|_| ());
        if polled.is_ready() {
            // It fires once, and would never again for the same moment.
            self.sleep = None;
        }
        polled
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
