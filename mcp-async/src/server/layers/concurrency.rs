//! Limits the number of concurrent calls.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::ready;
use std::sync::Arc;

use tower_layer::Layer;

use super::semaphore::Permit;
use super::semaphore::Semaphore;
use super::{Around, Layered, runs_a_handler};
use crate::connection::Answered;
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::call::call_host::CallHost;
use crate::server::{Call, Service};

/// Lets so many handlers run at a time; further calls wait for their turn, in order.
///
/// It counts calls, prompts, reads, completions and methods of the application's own, not lists.
/// The limit is shared by all services that this layer and its clones were put around: one layer
/// for a whole program is one limit for all its connections.
///
/// A call that waits holds its decoded arguments and its place in the table of its connection,
/// where at most [`Limits::in_flight`](mcp_proto::Limits::in_flight) are. Waiting counts for a
/// [`Timeout`](super::Timeout), on whichever side of it this layer is.
///
/// A call that becomes a [task](crate::tasks) is not counted from then on:
/// [`Tasks::max_running`](crate::tasks::server::Tasks::max_running) limits those.
#[derive(Clone)]
pub struct ConcurrencyLimit {
    semaphore: Arc<Semaphore>,
    limit: usize,
    refuses: bool,
}

impl ConcurrencyLimit {
    /// So many at a time, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = limit.max(1);
        Self {
            semaphore: Semaphore::new(limit),
            limit,
            refuses: false,
        }
    }

    /// Refuses further calls instead, with the internal error (-32603) and a text that names the
    /// limit: where the client should rather try elsewhere than wait.
    pub fn refusing(mut self) -> Self {
        self.refuses = true;
        self
    }
}

impl Around for ConcurrencyLimit {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        if !runs_a_handler(call.method) {
            return service.call(call);
        }
        if call.is_long_running() {
            return service.call(call);
        }
        let host = {
            let host = &call.context().host;
            host.may_detach().then(|| Arc::clone(host))
        };
        let permit = self.semaphore.try_acquire();
        if permit.is_none() && self.refuses {
            let text = format!("More than {} calls at a time", self.limit);
            return call.refuse(ErrorReply::new(mcp_proto::rpc::code::INTERNAL_ERROR, text));
        }
        let semaphore = Arc::clone(&self.semaphore);
        if let Some(host) = host {
            return service
                .call(call)
                .wrap(|job| until_detached(job, host, semaphore, permit));
        }
        service.call(call).wrap(|job| async move {
            let _pass = match permit {
                Some(permit) => permit,
                None => semaphore.acquire(()).await,
            };
            job.await
        })
    }
}

/// Runs a job that gives its permit back when its call leaves its exchange.
async fn until_detached(
    mut job: Job,
    host: Arc<dyn CallHost>,
    semaphore: Arc<Semaphore>,
    mut permit: Option<Permit>,
) -> Answered {
    let mut turn = None;
    poll_fn(|cx| {
        // The job of a call that has left is polled at once.
        if host.has_detached() {
            (permit, turn) = (None, None);
        } else if permit.is_none() {
            let turn = turn.get_or_insert_with(|| Arc::clone(&semaphore).acquire(()));
            permit = Some(ready!(Pin::new(turn).poll(cx)));
        }
        Pin::new(&mut job).poll(cx)
    })
    .await
}

impl<S> Layer<S> for ConcurrencyLimit {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

impl fmt::Debug for ConcurrencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyLimit")
            .field("limit", &self.limit)
            .field("refuses", &self.refuses)
            .finish()
    }
}
