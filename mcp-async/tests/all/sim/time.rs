//! Time that passes when a test says so, or when nothing else is left to happen.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::runtime::ManualRuntime;
use mcp_async::runtime::Runtime as _;

use super::{Flag, Sim, end, settle};

/// The clock of this thread.
pub(crate) fn clock() -> ManualRuntime {
    CLOCK.with(|clock| ManualRuntime::clone(clock))
}

/// Lets so much time pass, and then everything happen.
pub(crate) fn advance(by: Duration) {
    clock().advance(by);
    settle();
}

/// Resolves when so much time has passed.
pub(crate) async fn sleep(time: Duration) {
    let (until, mut timer) = (Sim.now() + time, Sim.timer());
    poll_fn(|cx| timer.as_mut().poll_until(until, cx)).await;
}

/// Lets other tasks run, and is ready at its second poll.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if core::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the outputs of these futures, which run at the same time.
pub(crate) async fn join_all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut outputs: Vec<_> = futures.iter().map(|_| None).collect();
    poll_fn(move |cx| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(value) = pin!(future).poll(cx)
            {
                *output = Some(value);
            }
        }
        if outputs.iter().any(Option::is_none) {
            return Poll::Pending;
        }
        Poll::Ready(outputs.iter_mut().filter_map(Option::take).collect())
    })
    .await
}

/// Runs everything until the future is ready, and returns its value; time passes only when nothing else happens.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut value = None;
    drive(pin!(async { value = Some(future.await) }), &mut || {});
    value.expect("the future is ready")
}

/// Runs a script to its end, and drops the tasks that it leaves.
pub(crate) fn play(script: impl Future<Output = ()>) {
    run(script);
    end();
}

/// Runs everything until the future is ready. `rest` is called whenever only time is left to pass.
pub(crate) fn drive(mut future: Pin<&mut dyn Future<Output = ()>>, rest: &mut dyn FnMut()) {
    let flag = Flag::new();
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        while flag.take() {
            let cx = &mut Context::from_waker(&waker);
            if future.as_mut().poll(cx).is_ready() {
                return;
            }
            settle();
        }
        rest();
        let next = clock().next_deadline();
        let next = next.expect("the test waits for nothing");
        advance(next.saturating_since(Sim.now()));
    }
}

thread_local! {
    /// Leaked: what is still there at the thread's end asks for the time.
    static CLOCK: &'static ManualRuntime = Box::leak(Box::default());
}
