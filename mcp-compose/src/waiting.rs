//! Futures side by side, and pauses.

use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use mcp_async::runtime::{RuntimeHandle, within};

/// Returns the output of the future that is ready first. Where both are, it is that of the first.
pub(crate) async fn either<T>(
    first: impl Future<Output = T>,
    second: impl Future<Output = T>,
) -> T {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|context| match first.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(output),
        Poll::Pending => second.as_mut().poll(context),
    })
    .await
}

/// Returns the output of `work`, or `None` once `end` is ready.
pub(crate) async fn until<T>(
    end: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| match end.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(context).map(Some),
    })
    .await
}

/// Waits for this time.
pub(crate) async fn sleep(runtime: &RuntimeHandle, time: Duration) {
    within(runtime, time, pending::<()>()).await;
}
