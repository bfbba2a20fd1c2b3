//! Several requests that leave together.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::Arc;

use mcp_proto::Channel;

use super::Request;
use crate::client::state::inner::{ClientShared, Inner};
use crate::connection::Progress;
use crate::error::CallError;

/// Requests of one type of result that leave together, and their results in the same order; what
/// [`Client::batch`](crate::client::Client::batch) returns.
///
/// On a pipe of 2025-03-26 they are one array, or several if there are more of them than one holds; over HTTP and in other
/// revisions each is a message of its own, and all are in flight at once. One that fails does not end the others. Dropping the future
/// cancels those that have no result yet.
#[must_use = "requests are sent when their future is polled"]
pub struct Batch<'a, T, H = fn(Progress<'_>)> {
    inner: &'a Arc<Inner>,
    requests: Vec<Entry<'a, T, H>>,
    stage: Stage,
}

struct Entry<'a, T, H> {
    request: Request<'a, T, H>,
    result: Option<Result<T, CallError>>,
}

/// ```text
///   New ----> Gathered ----> Sent       New again for those that an array had no room for
///     `-------------------------^       outside of 2025-03-26
/// ```
enum Stage {
    New,
    /// An array with this many requests left out is open until it is written over this connection.
    Gathered(Gathered, usize),
    Sent,
}

/// An open array, which is written even if the future is dropped: requests of others may be in it.
struct Gathered(Option<Arc<ClientShared>>);

impl Gathered {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(shared) = &self.0 else {
            return Poll::Ready(());
        };
        // If the connection has ended, each request says so.
        let _ = ready!(
            shared.poll_tell(cx, &mut None, Channel::PIPE, |machine, _, out| {
                machine.end_batch(out)
            })
        );
        self.0 = None;
        Poll::Ready(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            let runtime = shared.runtime.clone();
            let mut left = Self(Some(shared));
            runtime.spawn(Box::pin(poll_fn(move |cx| left.poll(cx))));
        }
    }
}

impl<'a, T, H: FnMut(Progress<'_>)> Batch<'a, T, H> {
    pub(in crate::client) fn new(
        inner: &'a Arc<Inner>,
        requests: impl IntoIterator<Item = Request<'a, T, H>>,
    ) -> Self {
        let entry = |request| Entry {
            request,
            result: None,
        };
        Self {
            inner,
            requests: requests.into_iter().map(entry).collect(),
            stage: Stage::New,
        }
    }

    fn poll_requests(&mut self, cx: &mut Context<'_>) {
        for entry in self
            .requests
            .iter_mut()
            .filter(|entry| entry.result.is_none())
        {
            if let Poll::Ready(result) = entry.request.poll_raw(cx) {
                entry.result = Some(result);
            }
        }
    }

    /// The requests that were not sent yet.
    fn unsent(&self) -> usize {
        let waits = |entry: &&Entry<'_, T, H>| entry.result.is_none() && !entry.request.was_sent();
        self.requests.iter().filter(waits).count()
    }
}

impl<T, H: FnMut(Progress<'_>)> Future for Batch<'_, T, H> {
    type Output = Vec<Result<T, CallError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::New => {
                    // Without a connection each request says why.
                    let link = ready!(this.inner.poll_link(cx, 0)).ok();
                    let gathers = link.filter(|link| {
                        let mut core = link.shared.lock();
                        // Over HTTP the exchange of a message has one answer.
                        core.outbound.is_none() && core.machine.begin_batch().is_ok()
                    });
                    let gathered = Gathered(gathers.map(|link| link.shared));
                    let before = this.unsent();
                    this.poll_requests(cx);
                    this.stage = match gathered.0 {
                        Some(_) => Stage::Gathered(gathered, before),
                        None => Stage::Sent,
                    };
                }
                Stage::Gathered(gathered, before) => {
                    ready!(gathered.poll(cx));
                    let (before, left) = (*before, this.unsent());
                    this.stage = match left > 0 && left < before {
                        true => Stage::New,
                        false => Stage::Sent,
                    };
                }
                Stage::Sent => {
                    this.poll_requests(cx);
                    if this.requests.iter().any(|entry| entry.result.is_none()) {
                        return Poll::Pending;
                    }
                    let entries = this.requests.drain(..);
                    return Poll::Ready(entries.filter_map(|entry| entry.result).collect());
                }
            }
        }
    }
}

/// The requests are polled through `&mut` and never pinned.
impl<T, H> Unpin for Batch<'_, T, H> {}

impl<T, H> fmt::Debug for Batch<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("requests", &self.requests.len())
            .finish_non_exhaustive()
    }
}
