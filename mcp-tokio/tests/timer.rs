//! The timer of a connection, which arms it once for each moment.

use core::future::{Future as _, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use mcp_tokio::Runtime;
use mcp_tokio::mcp_async::runtime::Runtime as _;

/// A task that has used up what tokio lets it do in one poll is polled again at once, and what it waited for
/// would not be known.
#[tokio::test]
async fn a_timer_is_armed_whatever_its_task_has_done_before() {
    let mut timer = Runtime.timer();
    let deadline = Runtime.now() + Duration::from_millis(50);
    let mut is_armed = false;
    let waits = poll_fn(move |cx| {
        if Runtime.now() >= deadline {
            return Poll::Ready(());
        }
        if !is_armed {
            while pin!(tokio::task::consume_budget()).poll(cx).is_ready() {}
            assert!(timer.as_mut().poll_until(deadline, cx).is_pending());
            is_armed = true;
        }
        Poll::Pending
    });
    // A task of its own, which nothing else wakes.
    let woken = tokio::time::timeout(Duration::from_secs(10), tokio::spawn(waits)).await;
    assert!(woken.is_ok(), "it was not armed");
}
