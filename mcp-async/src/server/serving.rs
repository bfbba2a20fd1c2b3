//! A built server, and its connections: over pairs of byte streams, and for transports of other
//! kinds.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::PreparedConfig;
use mcp_proto::server::ServerConfig;

#[cfg(feature = "http-server")]
use super::announcement::{Announcement, OnAnnouncement};
use super::background::Lifetime;
use super::builder::ServerBuilder;
use super::connection::{Connection, connect};
use super::declare::Caller;
use super::find_tools::FindTools;
use super::handler_context::unit;
use super::inner::Inner;
use super::layers::Layered;
use super::peer::Peer;
use super::rate::Buckets;
use super::registry::Registry;
#[cfg(feature = "http-server")]
use super::rounds::StateKeys;
use super::router::Router;
use super::runner::Runner;
use super::service::BoxService;
use super::serving_scope::ServingScope;
use crate::io::stdio::{self, StdioMode};
use crate::runtime::{Clock, Runtime};

/// A server of typed handlers, which serves every revision alike.
///
/// [`builder`](Self::builder) begins one. Clones are handles of the same server; what it offers
/// changes through its [`Registry`] only. The adapters name it with their runtime filled in: `R`
/// matters to [`serve`](Self::serve), [`serve_stdio`](Self::serve_stdio), [spawned](super::Tool::spawned)
/// tools and [blocking](super::Context::blocking) work, and may be `()` elsewhere. `S` is the state that the
/// builder was given, which items that are added through the registry share.
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
/// let server = Server::<()>::builder("weather", "1.0")
///     .tool("forecast", "Forecast for a city", |args: Forecast, _| async move {
///         Ok(format!("sunny in {}", args.city))
///     })
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
#[must_use = "a server does nothing until it serves a connection"]
pub struct Server<R, S = ()> {
    pub(super) inner: Arc<Inner>,
    state: Arc<S>,
    lifetime: Arc<Lifetime>,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Server<R> {
    /// The configuration of a connection to this caller, from which several machines are made.
    pub(crate) fn prepared(&self, caller: Caller) -> PreparedConfig<ServerConfig<'static>> {
        self.inner.view().prepared_for(caller).clone()
    }

    /// A server without a state of its own.
    #[cfg(feature = "http-server")]
    pub(super) fn of(inner: Arc<Inner>) -> Self {
        Self::new(inner, Arc::clone(unit()))
    }

    /// Returns true if its sessions over HTTP are held to the transports draft.
    #[cfg(feature = "http-server")]
    pub(crate) fn is_held_to_draft(&self) -> bool {
        self.inner.settings.draft
    }

    /// From now on the client is notified of changes.
    #[cfg(feature = "http-server")]
    pub(crate) fn connected(&self, peer: &Peer) {
        self.inner.connected(peer);
    }

    /// The client at the other end is gone.
    #[cfg(feature = "http-server")]
    pub(crate) fn disconnected(&self, peer: &Peer) {
        self.inner.disconnected(peer);
    }

    /// Lets this know of the changes that are reported in this process.
    #[cfg(feature = "http-server")]
    pub(crate) fn on_announcement(&self, report: OnAnnouncement) {
        self.inner.on_announcement(report);
    }

    /// Another process has reported a change.
    #[cfg(feature = "http-server")]
    pub(crate) fn announced(&self, change: &Announcement) {
        self.inner.announced(change);
    }

    /// Changes of other processes may have been missed.
    #[cfg(feature = "http-server")]
    pub(crate) fn announce_all(&self) {
        self.inner.announce_all();
    }

    /// Applies the settings to a connection before its first call.
    #[cfg(feature = "http-server")]
    pub(crate) fn configure(&self, peer: &Peer) {
        self.inner.settings.apply(peer);
    }

    /// Ready once it was shut down.
    #[cfg(feature = "http-server")]
    pub(crate) fn poll_closing(&self, cx: &core::task::Context<'_>) -> core::task::Poll<()> {
        self.inner.poll_closing(cx)
    }

    /// Begins a way in which the server is served, whose calls have this time to end.
    #[cfg(feature = "http-server")]
    pub(crate) fn begin_serving(&self, grace: Duration) -> ServingScope {
        ServingScope::new(&self.inner, grace)
    }

    /// Returns true if the server was shut down.
    #[cfg(feature = "http-server")]
    pub(crate) fn is_closing(&self) -> bool {
        self.inner.is_closing()
    }

    /// The scopes that a request needs, before it is handled.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(crate) fn scopes_of(
        &self,
        request: &mcp_proto::rpc::Request<'_>,
        caller: Option<&super::Principal>,
    ) -> mcp_auth::resource::RequiredScopes {
        self.inner.scopes_of(request, caller)
    }

    /// The methods of the application.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(crate) fn method_names(&self) -> impl Iterator<Item = &str> {
        let methods = self.inner.settings.methods.iter();
        methods.map(|method| &*method.name)
    }

    /// Returns the keys that seal the states of its requests, if they were set.
    #[cfg(feature = "http-server")]
    pub(crate) fn sealed_with(&self) -> Option<StateKeys> {
        self.inner.settings.keys.clone()
    }

    fn begin<I, O, C>(
        &self,
        streams: (I, O),
        clock: C,
        runner: Option<Runner>,
    ) -> (Connection<I, O, C, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
        C: Clock,
    {
        let service = service_of(&self.inner, runner, Arc::default(), Some(&self.lifetime));
        let prepared = self.prepared(Caller::Anonymous);
        let (mut connection, peer) = connect(streams, clock, prepared, service);
        connection = connection.with_shutdown_timeout(self.inner.settings.shutdown_timeout);
        if let Some(keys) = self.inner.settings.keys.clone() {
            connection = connection.with_state_keys(keys);
        }
        self.inner.connected(&peer);
        (connection, peer)
    }
}

impl<R, S> Server<R, S> {
    pub(super) fn new(inner: Arc<Inner>, state: Arc<S>) -> Self {
        let lifetime = Lifetime::new(&inner.works);
        Self {
            inner,
            state,
            lifetime,
            runtime: PhantomData,
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

    /// Serves one client on this clock, without a runtime: in tests and simulations.
    pub fn serve_on<I, O, C>(
        &self,
        streams: (I, O),
        clock: C,
    ) -> (Connection<I, O, C, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
        C: Clock,
    {
        self.without_state().begin(streams, clock, None)
    }

    /// Returns the server without its state, so that the code that serves it is compiled once for
    /// all states.
    pub(crate) fn without_state(&self) -> Server<R> {
        self.with_state(unit())
    }

    fn with_state<T>(&self, state: &Arc<T>) -> Server<R, T> {
        Server {
            inner: Arc::clone(&self.inner),
            state: Arc::clone(state),
            lifetime: Arc::clone(&self.lifetime),
            runtime: PhantomData,
        }
    }
}

impl<R: Runtime, S> Server<R, S> {
    /// Serves one client over a pair of byte streams: await the connection, or spawn it.
    pub fn serve<I, O>(&self, streams: (I, O)) -> (Connection<I, O, R, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
    {
        let server = self.without_state();
        server.begin(streams, R::default(), Some(Runner::of::<R>()))
    }

    /// Serves one client over this process's standard input and output, until either is closed the
    /// server is [shut down](super::Registry::shutdown), or the program is
    /// [interrupted](Runtime::interrupted). Both are reserved for the protocol from then on
    /// ([`StdioMode::Exclusive`]). However it ends, what was read is answered and the result is `Ok`:
    /// return from `main`. Handlers have the [shutdown timeout](super::ServerBuilder::shutdown_timeout) to
    /// finish.
    ///
    /// # Errors
    /// Standard streams that cannot be taken, and errors of the streams.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.without_state().serve_standard_streams().await
    }

    /// Returns the service of one connection, for a transport that is not a pair of byte streams.
    pub fn service(&self) -> BoxService {
        service_of(
            &self.inner,
            Some(Runner::of::<R>()),
            Arc::default(),
            Some(&self.lifetime),
        )
    }
}

impl<R: Runtime> Server<R> {
    async fn serve_standard_streams(self) -> io::Result<()> {
        let streams = stdio::open(R::reactor(), StdioMode::Exclusive)?;
        let (mut connection, _) = self.serve(streams);
        let grace = self.inner.settings.shutdown_timeout;
        let serving = ServingScope::new(&self.inner, grace);
        serving.start();
        let served = connection.serve_until(R::interrupted()).await;
        // Work apart from the connection has as much time to end as its handlers.
        let ending = connection.driver.ending_since();
        let passed = ending.map_or(Duration::ZERO, |since| {
            R::default().now().saturating_since(since)
        });
        drop(connection);
        serving.end(grace.saturating_sub(passed));
        serving.drained().await;
        serving.finish().await;
        served
    }

    /// Returns the service of one exchange that stands for itself; exchanges with the same buckets
    /// share their limits.
    #[cfg(feature = "http-server")]
    pub(crate) fn exchange_service(&self, buckets: &Arc<Buckets>) -> BoxService {
        service_of(
            &self.inner,
            Some(Runner::of::<R>()),
            Arc::clone(buckets),
            None,
        )
    }
}

/// Returns the service of one connection; connections with the same buckets share their limits. An
/// exchange of HTTP has no part in the lifetime of the server: its endpoint has.
fn service_of(
    inner: &Arc<Inner>,
    runner: Option<Runner>,
    buckets: Arc<Buckets>,
    lifetime: Option<&Arc<Lifetime>>,
) -> BoxService {
    let settings = Arc::clone(&inner.settings);
    let router = Router::new(
        inner,
        Arc::clone(&settings),
        runner,
        buckets,
        lifetime.cloned(),
    );
    let service = settings
        .layers
        .iter()
        .fold(Box::new(router) as BoxService, |service, layer| {
            layer(service)
        });
    let service = match settings.finds_tools {
        true => Box::new(Layered::new(FindTools(Arc::clone(inner)), service)) as BoxService,
        false => service,
    };
    settings.trace.wrap(service)
}

impl<R, S> Clone for Server<R, S> {
    fn clone(&self) -> Self {
        self.with_state(&self.state)
    }
}

impl<R, S> fmt::Debug for Server<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl<R: Runtime, S: Send + Sync + 'static> ServerBuilder<R, S> {
    /// Builds the server, and serves one client over this process's standard input and output:
    /// see [`Server::serve_stdio`].
    ///
    /// # Errors
    /// Those of [`build`](Self::build), as an [`InvalidInput`](io::ErrorKind::InvalidInput) that
    /// holds the [`BuildError`](super::BuildError), and those of [`Server::serve_stdio`].
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.build()?.serve_stdio().await
    }
}
