use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use mcp_async::runtime::monotonic;
use mcp_proto::Instant;
use pin_project_lite::pin_project;
use tokio::task::coop::unconstrained;
use tokio::time::Sleep;

pin_project! {
    /// A timer of the runtime.
    #[derive(Default)]
    pub(crate) struct Timer {
        #[pin]
        sleep: Option<Sleep>,
    }
}

impl mcp_async::runtime::Timer for Timer {
    fn poll_until(self: Pin<&mut Self>, deadline: Instant, task: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = monotonic::moment(deadline) else {
            return Poll::Pending;
        };
        let moment = moment.into();
        let mut slot = self.project().sleep;
        if slot.is_none() {
            slot.set(Some(tokio::time::sleep_until(moment)));
        }
        let Some(mut sleep) = slot.as_pin_mut() else {
            return Poll::Pending;
        };
        if sleep.deadline() != moment {
            sleep.as_mut().reset(moment);
        }
        // In a task that has used its budget up, the sleep would ask for another poll and register nothing.
        pin!(unconstrained(sleep)).poll(task)
    }
}
