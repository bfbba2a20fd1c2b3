//! A built server, and its connections: over pairs of byte streams, and for transports of other
//! kinds.

pub(super) mod build;
pub(super) mod build_error;
pub(crate) mod builder;
mod extensions;
mod merge;
pub(crate) mod parts;
pub(crate) mod serving_scope;
pub(super) mod transport;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::PreparedConfig;
use mcp_proto::server::ServerConfig;

use self::serving_scope::ServingScope;
use super::background::Lifetime;
use super::connection::{Connection, connect};
use super::layers::Layered;
use super::registry::Registry;
use super::rounds::StateKeys;
use super::router::{CallBuckets, Router};
use crate::runtime::RuntimeHandle;
use crate::server::call::handler_context::unit;
use crate::server::call::service::BoxService;
use crate::server::caller::peer::Peer;
use crate::server::registry::declare::Caller;
use crate::server::registry::inner::Inner;
use crate::server::router::find_tools::FindTools;
use crate::shares::CallerId;

/// A server of typed handlers, which serves every revision alike.
///
/// [`builder`](Self::builder) begins one. Clones are handles of the same server; what it offers
/// changes through its [`Registry`] only. It has no runtime: the [`Transport`](super::Transport) brings one, by which it is
/// [served](Self::serve). `S` is the state that the builder was given, which items that are added through the registry
/// share.
///
/// ```
/// use mcp_async::Server;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Forecast {
///     /// Where to look
///     city: String,
/// }
///
/// let server = Server::builder("weather", "1.0")
///     .tool("forecast", "Forecast for a city", |args: Forecast, _| async move {
///         Ok(format!("sunny in {}", args.city))
///     })
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
#[must_use = "a server does nothing until it serves a connection"]
pub struct Server<S = ()> {
    pub(crate) inner: Arc<Inner>,
    state: Arc<S>,
    lifetime: Arc<Lifetime>,
}

impl Server {
    /// The configuration of a connection to this caller, from which several machines are made.
    pub(crate) fn prepared(&self, caller: Caller) -> PreparedConfig<ServerConfig<'static>> {
        self.inner.view().prepared_for(caller).clone()
    }

    /// A server without a state of its own.
    pub(super) fn of(inner: Arc<Inner>) -> Self {
        Self::new(inner, Arc::clone(unit()))
    }

    /// Returns true if its sessions over HTTP are held to the transports draft.
    pub(crate) fn is_held_to_draft(&self) -> bool {
        self.inner.settings.draft
    }

    /// Applies the settings to a connection before its first call.
    pub(crate) fn configure(&self, peer: &Peer) {
        self.inner.settings.apply(peer);
    }

    /// Begins a way in which the server is served, whose calls have this time to end.
    pub(crate) fn begin_serving(&self, runtime: &RuntimeHandle, grace: Duration) -> ServingScope {
        self.inner.works.serve_on(runtime);
        ServingScope::new(&self.inner, grace)
    }

    /// The methods of the application.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(crate) fn method_names(&self) -> impl Iterator<Item = &str> {
        let methods = self.inner.settings.methods.iter();
        methods.map(|method| &*method.name)
    }

    /// Returns the keys that seal the states of its requests, if they were set.
    pub(crate) fn sealed_with(&self) -> Option<StateKeys> {
        self.inner.settings.keys.clone()
    }
}

impl<S> Server<S> {
    pub(super) fn new(inner: Arc<Inner>, state: Arc<S>) -> Self {
        let lifetime = Lifetime::new(&inner.works);
        Self {
            inner,
            state,
            lifetime,
        }
    }

    /// Returns the handle through which the running server is changed and ended. Items that it adds
    /// have the state of the server.
    pub fn registry(&self) -> Registry<S> {
        Registry::new(&self.inner, &self.state)
    }

    /// Returns the settings of the protocol layer, as of now. Its texts are shared: `info`, `capabilities` and the other texts are
    /// empty in it.
    pub fn config(&self) -> PreparedConfig<ServerConfig<'static>> {
        self.inner.view().prepared.clone()
    }

    /// Serves one client over a pair of byte streams: await the connection, or spawn it.
    pub fn connect<I, O>(
        &self,
        streams: (I, O),
        runtime: impl Into<RuntimeHandle>,
    ) -> (Connection<I, O, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
    {
        self.without_state().begin(streams, runtime.into())
    }

    /// Returns the service of one connection, for a transport that is not a pair of byte streams.
    pub fn service(&self, runtime: impl Into<RuntimeHandle>) -> BoxService {
        self.begin_service(&runtime.into())
    }

    fn begin_service(&self, runtime: &RuntimeHandle) -> BoxService {
        self.inner.works.serve_on(runtime);
        let lifetime = Arc::clone(&self.lifetime);
        service_of(&self.inner, Default::default(), Some(lifetime))
    }

    /// Returns the server without its state, so that the code that serves it is compiled once for
    /// all states.
    pub(crate) fn without_state(&self) -> Server {
        self.with_state(unit())
    }

    fn with_state<T>(&self, state: &Arc<T>) -> Server<T> {
        Server {
            inner: Arc::clone(&self.inner),
            state: Arc::clone(state),
            lifetime: Arc::clone(&self.lifetime),
        }
    }
}

impl Server {
    pub(super) fn begin<I, O>(
        &self,
        streams: (I, O),
        runtime: RuntimeHandle,
    ) -> (Connection<I, O, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
    {
        let service = self.begin_service(&runtime);
        let prepared = self.prepared(Caller::Anonymous);
        let (mut connection, peer) = connect(streams, runtime, prepared, service);
        connection = connection.with_shutdown_timeout(self.inner.settings.shutdown_timeout);
        if let Some(keys) = self.inner.settings.keys.clone() {
            connection = connection.with_state_keys(keys);
        }
        self.inner.connected(&peer);
        (connection, peer)
    }

    /// Returns the service of one exchange that stands for itself; exchanges of one caller with the same buckets
    /// share their limits.
    pub(crate) fn exchange_service(
        &self,
        (buckets, caller): (&Arc<CallBuckets>, Option<CallerId>),
    ) -> BoxService {
        let limits = (Arc::clone(buckets), caller);
        service_of(&self.inner, limits, None)
    }
}

/// Returns the service of one connection; connections of one caller with the same buckets share their limits. An
/// exchange of HTTP has no part in the lifetime of the server: its endpoint has.
fn service_of(
    inner: &Arc<Inner>,
    limits: (Arc<CallBuckets>, Option<CallerId>),
    lifetime: Option<Arc<Lifetime>>,
) -> BoxService {
    let settings = Arc::clone(&inner.settings);
    let router = Router::new(inner, Arc::clone(&settings), limits, lifetime);
    if settings.layers.is_empty() && !settings.finds_tools {
        return settings.trace.wrap(router);
    }
    let service = settings
        .layers
        .iter()
        .fold(Box::new(router) as BoxService, |service, layer| {
            layer(service)
        });
    match settings.finds_tools {
        true => settings
            .trace
            .wrap(Layered::new(FindTools(Arc::clone(inner)), service)),
        false => settings.trace.wrap(service),
    }
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        self.with_state(&self.state)
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
