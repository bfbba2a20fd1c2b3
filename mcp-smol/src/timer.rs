use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use mcp_async::runtime::monotonic;
use mcp_proto::Instant;

/// A timer of the reactor.
#[derive(Default)]
pub(crate) struct Timer {
    sleep: Option<(std::time::Instant, smol::Timer)>,
}

impl mcp_async::runtime::Timer for Timer {
    fn poll_until(mut self: Pin<&mut Self>, deadline: Instant, task: &mut Context<'_>) -> Poll<()> {
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
