//! Futures with a time limit.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{RuntimeHandle, Sleep};

/// Returns the output of `future`, or `None` if it takes longer than the limit, if there is one.
pub(crate) fn within<F: Future>(
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
    /// The future that [`within`] returns. An async function would have room for the future twice:
    /// as its argument, and as the pinned value.
    pub(crate) struct Within<F> {
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
