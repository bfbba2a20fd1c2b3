//! Limits the duration of calls.

use core::time::Duration;

use tower_layer::Layer;

use super::{Around, Layered};
use crate::connection::Job;
use crate::server::{Call, Service};

/// Gives every call so much time. A handler that needs more is dropped, as for a cancellation,
/// and the client gets the internal error (-32603) with a text that names the limit.
///
/// The time goes by the connection's clock and runs from the call's first poll until its answer
/// is in the output. It also runs while the handler waits for an answer of the client, which
/// may ask a user: five minutes is what a question takes by itself. It costs nothing for a
/// handler that finishes at once. A limit for one call alone is [`Job::within`].
///
/// A call that becomes a [task](crate::tasks) has no such limit from then on: its handler runs for as
/// long as [`Tasks::ttl`](crate::tasks::server::Tasks::ttl) says.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::server::{layers::Timeout, service_fn};
/// use tower_layer::Layer;
///
/// let service = service_fn(|call| call.ready(Ok(())));
/// let service = Timeout::new(Duration::from_secs(600)).layer(service);
/// # let _ = service;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    limit: Duration,
}

impl Timeout {
    /// So long, for every call.
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl Around for Timeout {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        if call.is_long_running() {
            return service.call(call);
        }
        service.call(call).within(self.limit)
    }
}

impl<S> Layer<S> for Timeout {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(*self, inner)
    }
}
