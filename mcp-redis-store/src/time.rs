//! Waiting, on the runtime that the `redis` crate chooses, and several futures at once.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use crate::error::Failure;

/// Waits for this time. If both runtimes are linked, the timer is tokio's inside of its runtime, and smol's elsewhere.
pub(crate) async fn sleep(time: Duration) {
    #[cfg(all(feature = "tokio", feature = "smol"))]
    match tokio::runtime::Handle::try_current() {
        Ok(_) => tokio::time::sleep(time).await,
        Err(_) => drop(async_io::Timer::after(time).await),
    }
    #[cfg(not(feature = "smol"))]
    tokio::time::sleep(time).await;
    #[cfg(not(feature = "tokio"))]
    async_io::Timer::after(time).await;
}

/// Returns the output of the future, or `None` if it takes longer than the limit.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut over) = (pin!(future), pin!(sleep(limit)));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => over.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// The first success, or the last failure.
pub(crate) async fn first<T>(
    attempts: impl IntoIterator<Item = impl Future<Output = Result<T, Failure>>>,
) -> Result<T, Failure> {
    let mut attempts: Vec<_> = attempts.into_iter().map(Box::pin).collect();
    let mut failure = Failure::Unreachable("there is no address".into());
    poll_fn(|cx| {
        let mut succeeded = None;
        attempts.retain_mut(|attempt| {
            if succeeded.is_some() {
                return true;
            }
            match attempt.as_mut().poll(cx) {
                Poll::Pending => return true,
                Poll::Ready(Ok(value)) => succeeded = Some(value),
                Poll::Ready(Err(failed)) => failure = failed,
            }
            false
        });
        match succeeded {
            Some(value) => Poll::Ready(Ok(value)),
            None if attempts.is_empty() => Poll::Ready(Err(failure.clone())),
            None => Poll::Pending,
        }
    })
    .await
}

/// All results, in the order of the futures.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|cx| {
        let mut waits = false;
        for (future, result) in &mut futures {
            if result.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *result = Some(value),
                    Poll::Pending => waits = true,
                }
            }
        }
        if waits {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    futures
        .into_iter()
        .filter_map(|(_, result)| result)
        .collect()
}
