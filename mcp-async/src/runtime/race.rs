//! Futures that are raced against each other.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

/// Whichever of the two is ready first; the left one if both are.
pub(crate) const fn race<A: Future, B: Future>(left: A, right: B) -> Race<A, B> {
    Race { left, right }
}

pin_project! {
    /// The future that [`race`] returns.
    pub(crate) struct Race<A, B> {
        #[pin]
        left: A,
        #[pin]
        right: B,
    }
}

pub(crate) enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A: Future, B: Future> Future for Race<A, B> {
    type Output = Either<A::Output, B::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.left.poll(cx) {
            return Poll::Ready(Either::Left(output));
        }
        this.right.poll(cx).map(Either::Right)
    }
}
