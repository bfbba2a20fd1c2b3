//! Timers and tasks of the runtime for hyper and for this crate.

use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use mcp_proto::Instant;
use pin_project_lite::pin_project;

use crate::runtime::Runtime;
use crate::runtime::Timer as _;

/// Done when a moment has come; it can be armed again for another.
pub(crate) struct RuntimeSleep<R: Runtime> {
    // Behind a lock that is never taken: hyper wants its sleeps `Sync`, and a timer need not be.
    timer: Mutex<R::Timer>,
    deadline: Instant,
}

impl<R: Runtime> RuntimeSleep<R> {
    pub(crate) fn until(deadline: Instant) -> Self {
        let timer = Mutex::new(R::default().timer());
        Self { timer, deadline }
    }

    pub(crate) fn after(duration: Duration) -> Self {
        Self::until(R::default().now() + duration)
    }

    pub(crate) fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    pub(crate) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_mut();
        let timer = timer.unwrap_or_else(PoisonError::into_inner);
        // A timer may fire early, so the clock is asked.
        while R::default().now() < self.deadline {
            ready!(timer.poll_until(self.deadline, cx));
        }
        Poll::Ready(())
    }
}

impl<R: Runtime> Future for RuntimeSleep<R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_done(cx)
    }
}

/// The result of `future`, or `None` if it takes longer than that.
pub(crate) fn timeout<R: Runtime, F: Future>(limit: Duration, future: F) -> Timeout<F, R> {
    Timeout {
        race: race(future, RuntimeSleep::after(limit)),
    }
}

/// Whichever of the two is ready first; the left one if both are.
pub(crate) const fn race<A: Future, B: Future>(left: A, right: B) -> Race<A, B> {
    Race { left, right }
}

pin_project! {
    /// The future that [`timeout`] returns. An async function would have room for the future twice:
    /// as its argument, and as the pinned value.
    pub(crate) struct Timeout<F, R: Runtime> {
        #[pin]
        race: Race<F, RuntimeSleep<R>>,
    }
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

impl<F: Future, R: Runtime> Future for Timeout<F, R> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        self.project().race.poll(cx).map(|first| match first {
            Either::Left(output) => Some(output),
            Either::Right(()) => None,
        })
    }
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

pub(crate) enum Either<A, B> {
    Left(A),
    Right(B),
}

/// The timers and tasks of a runtime, in the form that hyper uses.
pub(crate) struct Hyper<R>(PhantomData<fn() -> R>);

impl<R> Hyper<R> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<R> Clone for Hyper<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Hyper<R> {}

impl<R: Runtime> hyper::rt::Timer for Hyper<R> {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(RuntimeSleep::<R>::after(duration))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(RuntimeSleep::<R>::until(on_our_clock::<R>(deadline)))
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn hyper::rt::Sleep>>, deadline: std::time::Instant) {
        match sleep.as_mut().downcast_mut_pin::<RuntimeSleep<R>>() {
            Some(sleep) => sleep.get_mut().reset(on_our_clock::<R>(deadline)),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl<R: Runtime> hyper::rt::Sleep for RuntimeSleep<R> {}

impl<R: Runtime, F> hyper::rt::Executor<F> for Hyper<R>
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        R::spawn(Box::pin(task));
    }
}

fn on_our_clock<R: Runtime>(moment: std::time::Instant) -> Instant {
    let ahead = moment.saturating_duration_since(std::time::Instant::now());
    // Our clock counts whole milliseconds: never before the moment.
    R::default().now() + ahead + Duration::from_millis(1)
}
