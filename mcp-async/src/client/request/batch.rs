//! Several requests that leave together.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::{Revision, SendError};

use super::Request;
use crate::client::state::inner::{ClientShared, Inner};
use crate::connection::{Notified, Progress};
use crate::error::CallError;
use crate::runtime::{RuntimeHandle, Sleep};

/// Requests of one type of result that leave together, and their results in the same order; what
/// [`Client::batch`](crate::client::Client::batch) returns.
///
/// In 2025-03-26 they are one array, or several if there are more of them than one holds; in other
/// revisions each is a message of its own, and all are in flight at once. One that fails does not end the others. More than
/// [`Limits::in_flight`](crate::Limits::in_flight) are refused, as they are alone. Dropping the future cancels those that have no result
/// yet; those of an array that waits to be written leave, and are cancelled after it.
#[must_use = "requests are sent when their future is polled"]
pub struct Batch<'a, T, H = fn(Progress<'_>)> {
    inner: &'a Arc<Inner>,
    requests: Vec<Entry<'a, T, H>>,
    stage: Stage,
    /// The place among those who wait for a connection.
    linking: Option<Notified>,
    /// The timer of a batch that waits until the output is empty.
    timer: Option<Box<Sleep>>,
}

struct Entry<'a, T, H> {
    request: Request<'a, T, H>,
    result: Option<Result<T, CallError>>,
}

/// ```text
///   New ----> Sent       New again for those that an array had no room for
/// ```
enum Stage {
    New,
    Sent,
}

/// An open array. It leaves when this is dropped, at the end of the poll that opened it.
struct Gathered(Arc<ClientShared>);

impl Drop for Gathered {
    fn drop(&mut self) {
        self.0.command(|machine, _| machine.defer_batch());
        self.0.wake_watchers();
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
            linking: None,
            timer: None,
        }
    }

    /// Opens an array as soon as nothing else waits to be written, so that it leaves at once. Returns `None` where there are no arrays.
    fn poll_gather(&mut self, cx: &mut Context<'_>) -> Poll<Option<Gathered>> {
        // Without a connection each request says why.
        let Ok(link) = ready!(self.inner.poll_link(cx, 0, &mut self.linking)) else {
            return Poll::Ready(None);
        };
        let begun = {
            let mut core = link.shared.lock();
            let revision = core.machine.revision();
            if !revision.is_some_and(Revision::allows_batches) {
                return Poll::Ready(None);
            }
            if core.poll_empty(cx).is_pending() {
                let usual = core.machine.config().timeouts.request;
                drop(core);
                return self.poll_timer(cx, &link.shared.runtime, usual);
            }
            let begun = core.machine.begin_batch();
            if begun == Err(SendError::NotReady) {
                // Another batch is open, or the session is opened again.
                core.watch(cx);
                return Poll::Pending;
            }
            begun
        };
        Poll::Ready(begun.ok().map(|()| Gathered(link.shared)))
    }

    /// Ready when what waits to be written has not left in time. From then on each request waits by itself, and says that it could not be
    /// sent.
    fn poll_timer(
        &mut self,
        cx: &mut Context<'_>,
        runtime: &RuntimeHandle,
        usual: Duration,
    ) -> Poll<Option<Gathered>> {
        let timer = self.timer.get_or_insert_with(|| {
            let timeouts = self
                .requests
                .iter()
                .map(|entry| entry.request.options.timeout);
            let longest = timeouts.map(|timeout| timeout.unwrap_or(usual)).max();
            Box::new(Sleep::after(runtime, longest.unwrap_or(usual)))
        });
        timer.poll_done(cx).map(|()| None)
    }

    fn poll_requests(&mut self, cx: &mut Context<'_>, batched: bool) {
        let open = self.requests.iter_mut();
        for entry in open.filter(|entry| entry.result.is_none()) {
            entry.request.options.batched = batched;
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
        while let Stage::New = this.stage {
            let before = this.unsent();
            this.stage = Stage::Sent;
            if before == 0 {
                break;
            }
            let Poll::Ready(gathered) = this.poll_gather(cx) else {
                this.stage = Stage::New;
                return Poll::Pending;
            };
            if let Some(gathered) = gathered {
                this.poll_requests(cx, true);
                drop(gathered);
                // Those that are too long for an array are sent alone.
                let left = this.unsent();
                if left > 0 && left < before {
                    this.stage = Stage::New;
                }
            }
        }
        this.poll_requests(cx, false);
        if this.requests.iter().any(|entry| entry.result.is_none()) {
            return Poll::Pending;
        }
        let entries = this.requests.drain(..);
        Poll::Ready(entries.filter_map(|entry| entry.result).collect())
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
