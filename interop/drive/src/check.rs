//! What a script of expectations needs, on any runtime.

use core::error::Error;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;

use mcp_async::client::CallError;
use mcp_async::runtime::{self, RuntimeHandle};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Ends the feature with the condition and what there was instead, unless it holds.
macro_rules! check {
    ($condition:expr, $found:expr) => {
        if !$condition {
            return Err(format!("{}: {:?}", stringify!($condition), $found).into());
        }
    };
}
pub(crate) use check;

/// The future's outcome, unless it takes longer.
pub(crate) async fn within<T>(
    runtime: &RuntimeHandle,
    limit: Duration,
    future: impl Future<Output = Outcome<T>>,
) -> Outcome<T> {
    let ended = runtime::within(runtime, limit, future).await;
    ended.unwrap_or_else(|| Err("timed out".into()))
}

/// The outputs of all futures, which run together.
pub(crate) async fn all<T>(futures: impl IntoIterator<Item: Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|cx| {
        for (future, output) in &mut futures {
            if output.is_none() {
                *output = ready(future.as_mut(), cx);
            }
        }
        let done = futures.iter().all(|(_, output)| output.is_some());
        if done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}

/// The output of the first, after which the second is dropped; the second must not end before.
pub(crate) async fn abandon<T>(first: impl Future<Output = T>, second: impl Future) -> Outcome<T> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        if second.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err("it ended too early".into()));
        }
        first.as_mut().poll(cx).map(Ok)
    })
    .await
}

/// Whether the server refused with one of these codes.
pub(crate) fn refused<T>(outcome: Result<T, CallError>, codes: &[i64]) -> Outcome {
    match outcome {
        Err(CallError::Server(reply)) if codes.contains(&reply.code) => Ok(()),
        Err(error) => Err(format!("expected one of {codes:?}, not {error:?}").into()),
        Ok(_) => Err(format!("expected one of {codes:?}, but it was answered").into()),
    }
}

fn ready<F: Future>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Option<F::Output> {
    match future.poll(cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
