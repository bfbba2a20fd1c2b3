//! Futures with a time limit.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{RuntimeHandle, Sleep};

/// Returns the output of `future`, or `None` if it takes longer than the limit, if there is one. The time counts from
/// this call on.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::runtime::{RuntimeHandle, within};
/// use mcp_async::Client;
///
/// async fn is_alive(runtime: &RuntimeHandle, client: &Client) -> bool {
///     let ping = within(runtime, Duration::from_secs(2), client.ping()).await;
///     ping.is_some_and(|answer| answer.is_ok())
/// }
/// # let _ = is_alive;
/// ```
pub fn within<F: Future>(
    runtime: &RuntimeHandle,
    limit: impl Into<Option<Duration>>,
    future: F,
) -> Within<F> {
    Within {
        future,
        limit: limit.into().map(|limit| Sleep::after(runtime, limit)),
    }
}

pin_project! {
    /// The future that [`within`] returns.
    // An async function would have room for the future twice: as its argument, and as the pinned value.
    #[must_use = "futures do nothing until they are polled"]
    pub struct Within<F> {
        #[pin]
        future: F,
        limit: Option<Sleep>,
    }
}

impl<F: Future> Future for Within<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Some(output));
        }
        match this.limit {
            Some(limit) => limit.poll_done(cx).map(|()| None),
            None => Poll::Pending,
        }
    }
}

impl<F> fmt::Debug for Within<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within").finish_non_exhaustive()
    }
}
