//! Sends a request, reads what is short of its response, and tells a server what has no answer.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use bytes::Bytes;
use http::Response;
use mcp_proto::client::http::Exchange;

use super::carrier::{Reply, Unsent};
use super::link::Link;
use crate::runtime::{Clock, Timer};

pub(super) async fn ask(
    link: &Link,
    exchange: &Exchange,
    message: &Bytes,
) -> Result<Response<Reply>, Unsent> {
    let request = link.request(exchange, message)?;
    link.carrier.send(request).await
}

pub(super) enum Whole {
    All(Vec<u8>),
    /// What was read of it.
    TooLong(Vec<u8>),
    Broken,
}

pub(super) async fn whole(mut body: Reply, limit: usize) -> Whole {
    let mut bytes = Vec::new();
    loop {
        match poll_fn(|cx| body.poll_bytes(cx)).await {
            None => return Whole::All(bytes),
            Some(Err(_)) => return Whole::Broken,
            Some(Ok(part)) => {
                if bytes.len().saturating_add(part.len()) > limit {
                    return Whole::TooLong(bytes);
                }
                bytes.extend_from_slice(&part);
            }
        }
    }
}

/// Tells the server something that has no answer.
pub(super) async fn tell<C: Clock>(link: &Link, clock: &C, message: Vec<u8>) {
    let message = Bytes::from(message);
    let exchange = link.origin(|origin| Exchange::new(origin, &message));
    let told = async {
        if let Ok(response) = ask(link, &exchange, &message).await {
            whole(response.into_body(), REFUSAL).await;
        }
    };
    // Whatever becomes of it: other exchanges find out that a session is gone.
    within(clock, Some(PATIENCE), told).await;
}

pub(super) async fn deliver(link: &Link, line: &mut Vec<u8>) {
    poll_fn(|cx| link.poll_deliver(cx, line)).await;
}

/// Returns the output of a future, unless it takes longer than the limit.
pub(super) async fn within<C: Clock, F: Future>(
    clock: &C,
    limit: Option<Duration>,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut end = limit.map(|limit| (clock.now() + limit, clock.timer()));
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        match &mut end {
            Some((at, timer)) => timer.poll_until(*at, cx).map(|()| None),
            None => Poll::Pending,
        }
    })
    .await
}

/// How long a server may take to accept a notification. Behind `initialized` everything else
/// waits, and calls wait longer than this.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What is read of a refusal: errors are short.
pub(super) const REFUSAL: usize = 64 << 10;
