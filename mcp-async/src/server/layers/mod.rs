//! Layers around a service: work before and after each call.
//!
//! A layer is a [`Layer`] of the crate `tower_layer`, so layers compose by [`Stack`], by tuples and by
//! tower's `ServiceBuilder`. They wrap the [`Service`] of this crate instead of `tower_service`'s, which takes its request by value, has an error in addition to the answer, and
//! requires readiness before it sees the request. A call here borrows from the input of its
//! connection, is always answered, and waits in its own job. Where a call is decoded and its handler has not run yet it is
//! owned: there [`tower()`] puts layers of `tower`.
//!
//! ```
//! use core::time::Duration;
//! use mcp_async::server::layers::{self, Layer};
//! use mcp_async::server::service_fn;
//!
//! let service = service_fn(|call| call.ready(Ok(())));
//! let limits = (
//!     layers::Timeout::new(Duration::from_secs(60)),
//!     layers::ConcurrencyLimit::new(16),
//! );
//! let service = limits.layer(service);
//! # let _ = service;
//! ```

mod around;
mod audit;
mod concurrency;
#[cfg(not(feature = "tracing"))]
mod no_trace;
mod observed;
mod semaphore;
mod timeout;
mod tower;
#[cfg(feature = "tracing")]
mod trace;

use core::fmt;

use mcp_proto::json::Object;
use mcp_proto::rpc::Method;
use mcp_proto::server::Initialize;

use crate::connection::Job;
use crate::connection::Progress;
use crate::server::call::listen::Listen;
use crate::server::call::service::BoxService;
use crate::server::call::service::{Call, Service};
use crate::server::caller::peer::Peer;

pub use tower_layer::{Layer, Stack};

pub use self::around::{AroundFn, around};
pub use self::audit::Audit;
pub use self::concurrency::ConcurrencyLimit;
#[cfg(not(feature = "tracing"))]
pub(in crate::server) use self::no_trace::Trace;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) use self::semaphore::Permit;
pub(crate) use self::semaphore::Semaphore;
pub use self::timeout::Timeout;
pub use self::tower::{DecodedCall, Handlers, TowerLayer, tower};
#[cfg(feature = "tracing")]
pub use self::trace::Trace;

/// The part of a layer of this module that takes calls. All other methods of a [`Service`] reach the inner service.
///
/// ```
/// use mcp_async::server::layers::{Around, Layer, Layered};
/// use mcp_async::server::{Call, Service, service_fn};
/// use mcp_async::{ErrorReply, Job};
/// use mcp_async::Method;
///
/// /// Lists, and nothing else.
/// #[derive(Clone)]
/// struct ReadOnly;
///
/// impl Around for ReadOnly {
///     fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
///         match call.method {
///             Method::ToolsCall => call.refuse(ErrorReply::new(-1, "read only")),
///             _ => service.call(call),
///         }
///     }
/// }
///
/// impl<S> Layer<S> for ReadOnly {
///     type Service = Layered<Self, S>;
///
///     fn layer(&self, inner: S) -> Self::Service {
///         Layered::new(self.clone(), inner)
///     }
/// }
///
/// let service = ReadOnly.layer(service_fn(|call| call.ready(Ok(()))));
/// # let _ = service;
/// ```
pub trait Around: Send + 'static {
    /// Takes a call instead of the service, which answers it if it is asked to.
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job;

    /// Learns that a legacy session or a subscription of 2026-07-28 was opened: see [`Service::listening`].
    fn listening(&self, peer: &Peer) {
        let _ = peer;
    }
}

/// A [`Layer`] that a server takes: every layer that makes a [`Service`] of a boxed one. A function
/// returns a layer of its own as this:
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::layers::{ServerLayer, around};
///
/// fn logged(prefix: &'static str) -> impl ServerLayer {
///     around(move |call, service| {
///         eprintln!("{prefix}{}", call.method);
///         service.call(call)
///     })
/// }
///
/// let server = Server::builder("demo", "1.0").layer(logged("> "));
/// # let _ = server;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer of a server",
    note = "a layer is `Send`, `Sync` and `'static`, and makes a `Service` of a `BoxService`; \
            `layers::around` makes one of a function"
)]
pub trait ServerLayer: Layer<BoxService, Service: Service> + Send + Sync + 'static {}

impl<L: Layer<BoxService, Service: Service> + Send + Sync + 'static> ServerLayer for L {}

/// A service with something around it.
#[derive(Clone, Copy)]
pub struct Layered<L, S> {
    layer: L,
    inner: S,
}

impl<L, S> Layered<L, S> {
    /// Puts `layer` around `inner`.
    pub const fn new(layer: L, inner: S) -> Self {
        Self { layer, inner }
    }
}

impl<L: Around, S: Service> Service for Layered<L, S> {
    fn call(&self, call: Call<'_>) -> Job {
        self.layer.call(call, &self.inner)
    }

    fn seals_state(&self) -> bool {
        self.inner.seals_state()
    }

    fn handshake(&self, peer: &Peer, opened: &Initialize<'_>) {
        self.inner.handshake(peer, opened);
    }

    fn listening(&self, peer: &Peer) {
        self.layer.listening(peer);
        self.inner.listening(peer);
    }

    fn listen(&self, listen: Listen<'_>) -> Job {
        self.inner.listen(listen)
    }

    fn notified(&self, peer: &Peer, method: Method<'_>, params: Object<'_>) {
        self.inner.notified(peer, method, params);
    }

    fn progress(&self, peer: &Peer, tag: u64, progress: Progress<'_>) {
        self.inner.progress(peer, tag, progress);
    }

    fn ping_missed(&self, peer: &Peer, misses: u32, limit: u32) {
        self.inner.ping_missed(peer, misses, limit);
    }
}

impl<L: fmt::Debug, S> fmt::Debug for Layered<L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Layered").field(&self.layer).finish()
    }
}

/// Returns true if a handler of the application may answer this method: other lists and
/// subscriptions are answered from what the server holds anyway.
const fn runs_a_handler(method: Method<'_>) -> bool {
    matches!(
        method,
        Method::ToolsCall
            | Method::ResourcesRead
            | Method::ResourcesList
            | Method::PromptsGet
            | Method::CompletionComplete
            | Method::Other(_)
    )
}
