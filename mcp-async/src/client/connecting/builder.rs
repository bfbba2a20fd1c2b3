//! The configuration of a client before it connects.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::client::{ClientConfig, Negotiation, Timeouts};
use mcp_proto::json::RawBuf;
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::Notification;
use mcp_proto::{Limits, PingPolicy, PreparedConfig, RevisionSet};

use super::supervisor::{Dial, Dialled, Dialling, Redial, open_connection, supervise};
use crate::client::callbacks::callback_context::CallbackContext;
use crate::client::callbacks::callback_error::CallbackError;
use crate::client::callbacks::roots::{Roots, is_file};
use crate::client::callbacks::{Callbacks, boxed};
use crate::client::extension::Extension;
use crate::client::extension::declared::Declared;
use crate::client::handle::Client;
use crate::client::session::exchange::ROUNDS;
use crate::client::session::restart::RestartPolicy;
use crate::client::state::ClientState;
use crate::client::state::cache::CacheBounds;
use crate::client::state::extensions::Extensions;
use crate::client::state::inner::Inner;
use crate::client::state::transport_data::TransportData;
use crate::error::ConnectError;
use crate::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Implementation,
    LoggingMessageParams, Meta, Root, implementation_setters,
};
use crate::runtime::RuntimeHandle;
use crate::sync::Lock;
use crate::trace_context::TraceContext;

/// The settings of a [`Client`] before it connects.
///
/// The capabilities that a client declares follow from its callbacks: it declares those that have a
/// callback, and nothing else.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::{ConnectError, RestartPolicy, child};
/// use mcp_async::model::{ElicitParams, ElicitResult, Root};
/// use mcp_async::process::Command;
/// use mcp_async::runtime::RuntimeHandle;
///
/// async fn start(runtime: RuntimeHandle) -> Result<Client, ConnectError> {
///     Client::builder("demo", "1.0")
///         .roots([Root::new("file:///home/ada/notes")])
///         .on_elicitation(|asked: ElicitParams, _| async move {
///             eprintln!("{:?}", asked.message());
///             Ok(ElicitResult::decline())
///         })
///         .restart(RestartPolicy::default())
///         .connect(child(runtime, Command::new("npx").args(["-y", "some-server"])))
///         .await
/// }
/// ```
#[must_use = "a builder does nothing until it connects"]
pub struct ClientBuilder<S = ()> {
    info: Implementation,
    /// All else, without texts.
    config: ClientConfig<'static>,
    /// True if the callback for elicitation answers forms alone.
    forms_only: bool,
    /// The features of sampling to declare if there is a callback for it.
    sampling: ClientFeatures,
    pub(in crate::client) callbacks: Callbacks,
    pub(in crate::client) extensions: Vec<Extension>,
    /// Capabilities that are not of the protocol.
    pub(in crate::client) experimental: Meta,
    pub(in crate::client) state: Arc<S>,
    /// The first invalid root.
    wrong: Option<String>,
    rounds: u8,
    cache: bool,
    cache_bounds: CacheBounds,
    restart: Option<RestartPolicy>,
    /// The settings of HTTP.
    pub(crate) transport_data: TransportData,
}

impl Client {
    /// The settings of a client with this name and version, which it sends to its servers.
    pub fn builder(name: &str, version: &str) -> ClientBuilder {
        ClientBuilder::new(name, version)
    }
}

impl ClientBuilder {
    fn new(name: &str, version: &str) -> Self {
        Self {
            info: Implementation::new(name, version),
            config: ClientConfig::new("", ""),
            forms_only: false,
            sampling: ClientFeatures::SAMPLING,
            callbacks: Callbacks::default(),
            extensions: Vec::new(),
            experimental: Meta::new(),
            state: Arc::default(),
            wrong: None,
            rounds: ROUNDS,
            cache: true,
            cache_bounds: CacheBounds::default(),
            restart: None,
            transport_data: TransportData::default(),
        }
    }
}

impl<S: Send + Sync + 'static> ClientBuilder<S> {
    /// Sets the state that callbacks reach by [`CallbackContext::state`]. It is for callbacks
    /// that are set afterwards; those that were set before keep the state they had.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::ClientBuilder;
    /// use mcp_async::model::ElicitResult;
    ///
    /// fn asking(user: String) -> ClientBuilder<String> {
    ///     Client::builder("demo", "1.0")
    ///         .with_state(user)
    ///         .on_elicitation(|_, cx| async move {
    ///             println!("a question for {}", cx.state());
    ///             Ok(ElicitResult::decline())
    ///         })
    /// }
    /// # let _ = asking;
    /// ```
    pub fn with_state<T: Send + Sync + 'static>(self, state: T) -> ClientBuilder<T> {
        ClientBuilder {
            info: self.info,
            config: self.config,
            forms_only: self.forms_only,
            sampling: self.sampling,
            callbacks: self.callbacks,
            extensions: self.extensions,
            experimental: self.experimental,
            state: Arc::new(state),
            wrong: self.wrong,
            rounds: self.rounds,
            cache: self.cache,
            cache_bounds: self.cache_bounds,
            restart: self.restart,
            transport_data: self.transport_data,
        }
    }

    implementation_setters!(info);

    /// Sets the revisions that the client accepts; all published ones by default.
    pub const fn revisions(mut self, revisions: RevisionSet) -> Self {
        self.config.revisions = revisions;
        self
    }

    /// Sets the timeouts. By default a client waits 60 s for the connection and 60 s for the result of a request, which progress
    /// restarts; a request ends after 10 minutes as a whole. A single call may set its own two.
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.config.timeouts = timeouts;
        self
    }

    /// Sets the bounds of what the client keeps and accepts.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Sets whether each request of 2026-07-28 names the client; true by default. The handshake always does.
    pub const fn identify(mut self, identify: bool) -> Self {
        self.config.identify = identify;
        self
    }

    /// Sets whether progress of a call restarts its timeout; true by default. The maximum duration stays.
    pub const fn progress_restarts_timeout(mut self, restarts: bool) -> Self {
        self.config.progress_extends = restarts;
        self
    }

    /// Sets whether `$/cancelRequest`, which is not of MCP, cancels a request of a legacy server; true by default.
    pub const fn cancel_alias(mut self, accept: bool) -> Self {
        self.config.cancel_alias = accept;
        self
    }

    /// Sets how many subscriptions of 2026-07-28 it has at a time, 512 otherwise. Each is a request
    /// for as long as it lasts. They take half of [`Limits::in_flight`] at most, but one in any
    /// case; the rest is for calls. One that is too many is [`CallError::Refused`](crate::client::CallError::Refused).
    pub const fn max_subscriptions(mut self, subscriptions: usize) -> Self {
        self.config.max_subscriptions = subscriptions;
        self
    }

    /// Sets how the client begins with a server whose revision it does not know. It keeps what it
    /// learns for as long as it lives; a program that has connected to the server before, and
    /// remembers that the [revision](crate::client::ServerInfo::revision) was a legacy one, saves a request
    /// with [`Negotiation::Handshake`]. If that fails, [`Negotiation::Probe`] finds out the
    /// revision that the server has become.
    pub const fn negotiation(mut self, negotiation: Negotiation) -> Self {
        self.config.negotiation = negotiation;
        self
    }

    /// Pings a legacy server at the interval of this policy; without it, no pings are sent.
    pub const fn ping(mut self, policy: PingPolicy) -> Self {
        self.config.ping = Some(policy);
        self
    }

    /// Answers the server's questions to a person: forms and pages to visit. An older
    /// revision has only forms, or neither, and servers do not ask there.
    ///
    /// Of an accepted form, the fields that are left out get their defaults. A page is
    /// shown in full and opened only when the person agreed. A refusal by the user is
    /// an answer; return an error only when no user can be asked.
    pub fn on_elicitation<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(ElicitParams, CallbackContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitResult, CallbackError>> + Send + 'static,
    {
        self.callbacks.elicitation = Some(boxed(&self.state, callback));
        self
    }

    /// Declares forms only: to be asked to visit a page is refused with -32602 then.
    pub const fn forms_only(mut self) -> Self {
        self.forms_only = true;
        self
    }

    /// Answers the server's questions to a model; with
    /// [`ModelPreferences::select`](crate::model::ModelPreferences::select) it evaluates the
    /// hints. A person's refusal is an error with code -1.
    pub fn on_sampling<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(CreateMessageParams, CallbackContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, CallbackError>> + Send + 'static,
    {
        self.callbacks.sampling = Some(boxed(&self.state, callback));
        self
    }

    /// Declares that the model of [`on_sampling`](Self::on_sampling) can use tools; a question
    /// with tools is refused with -32602 otherwise.
    pub const fn sampling_tools(mut self) -> Self {
        self.sampling = self.sampling.with(ClientFeatures::SAMPLING_TOOLS);
        self
    }

    /// Declares that the callback of [`on_sampling`](Self::on_sampling) can add context from
    /// servers.
    pub const fn sampling_context(mut self) -> Self {
        self.sampling = self.sampling.with(ClientFeatures::SAMPLING_CONTEXT);
        self
    }

    /// Shows the server these directories; [`Client::set_roots`] changes them later. Each is
    /// `file://` and an absolute path, or connecting fails.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Vec<Root> = roots.into_iter().collect();
        self.wrong = roots
            .iter()
            .find(|root| !is_file(&root.uri))
            .map(|root| root.uri.clone());
        self.callbacks.roots = Roots::Listed(Lock::new(roots));
        self
    }

    /// Looks which of the [`roots`](Self::roots) are there, in each interval and before each answer. Those that are not are not
    /// shown, and when one vanishes or comes back a legacy server is notified; in 2026-07-28 a server asks each time. Zero is a
    /// millisecond. Without it all roots are shown, whatever becomes of their directories.
    ///
    /// The directories are looked at on the runtime's pool for blocking work.
    pub fn check_roots(mut self, interval: Duration) -> Self {
        self.callbacks.root_check = Some(interval.max(Duration::from_millis(1)));
        self
    }

    /// Shows the server the directories that the callback names each time. Tell of a change
    /// with [`Client::notify_roots_changed`].
    pub fn on_roots<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(CallbackContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Root>, CallbackError>> + Send + 'static,
    {
        self.callbacks.roots = Roots::Asked(boxed(&self.state, move |(), cx| callback(cx)));
        self.wrong = None;
        self
    }

    /// Sets a callback for log messages, called at once and in the order of arrival; it must not
    /// block.
    pub fn on_log(
        mut self,
        callback: impl Fn(LoggingMessageParams) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.log = Some(Box::new(callback));
        self
    }

    /// Sets a callback for notifications, except those of methods that neither the protocol nor an
    /// [extension](crate::client::Extension::notification) of this client has, called at once
    /// and in the order of arrival; it must not block. Progress goes to [its
    /// call](crate::client::Request::on_progress).
    pub fn on_notification(
        mut self,
        callback: impl Fn(Notification<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.notification = Some(Box::new(callback));
        self
    }

    /// Tells the server, with every request, which trace it belongs to. The closure runs
    /// in the task that awaits the request, inside its span, so it can ask whatever traces the
    /// program for the current one.
    ///
    /// ```
    /// use mcp_async::TraceContext;
    /// use mcp_async::client::ClientBuilder;
    ///
    /// fn traced(builder: ClientBuilder) -> ClientBuilder {
    ///     // An exporter would say which span is the current one.
    ///     builder.on_trace(|| TraceContext::new([7; 16], [1; 8], true))
    /// }
    /// ```
    pub fn on_trace(
        mut self,
        trace: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.trace = Some(Box::new(trace));
        self
    }

    /// Starts a server that has gone again, or connects to it again; without this, its end is the
    /// client's.
    ///
    /// Over HTTP only a server of 2024-11-05 has a connection that can end: the one stream that
    /// carries all answers, which cannot be resumed. Calls in flight end with
    /// [`CallError::Closed`](crate::client::CallError::Closed) then, because it is unknown how far the
    /// server got with them; with a policy the stream is opened again after its delay. Newer
    /// servers are met exchange by exchange, so a client outlives their restarts in any case:
    /// sessions are opened again when they turn out to be lost.
    pub fn restart(mut self, policy: RestartPolicy) -> Self {
        self.restart = Some(policy);
        self
    }

    /// Sets whether lists and resources are cached for as long as the server allows, or
    /// until it notifies the client of a change; they are by default.
    pub const fn cache(mut self, cache: bool) -> Self {
        self.cache = cache;
        self
    }

    /// Sets how many results are cached, each page of a list and each resource; 512 otherwise. Those
    /// that expire first make room for others.
    pub const fn max_cached_results(mut self, results: usize) -> Self {
        self.cache_bounds.results = results;
        self
    }

    /// Sets how many bytes the cached results have together; 8 MiB otherwise. A result of more than a
    /// quarter of that is not cached.
    pub const fn max_cached_bytes(mut self, bytes: usize) -> Self {
        self.cache_bounds.bytes = bytes;
        self
    }

    /// Sets how long a result is cached at most, whatever the server allows; one day otherwise.
    pub const fn max_cache_time(mut self, time: Duration) -> Self {
        self.cache_bounds.time = time;
        self
    }

    /// Answers so many rounds of questions in one call at most; 16 otherwise, which is
    /// also the most.
    pub const fn rounds(mut self, rounds: u8) -> Self {
        self.rounds = if rounds < ROUNDS { rounds } else { ROUNDS };
        self
    }
}

impl<S> ClientBuilder<S> {
    /// Returns the features that have a callback, in whatever order the settings were made.
    fn features(&self) -> ClientFeatures {
        let mut features = ClientFeatures::NONE;
        if self.callbacks.elicitation.is_some() {
            features = features.with(ClientFeatures::ELICITATION_FORM);
            if !self.forms_only {
                features = features.with(ClientFeatures::ELICITATION_URL);
            }
        }
        if self.callbacks.sampling.is_some() {
            features = features.with(self.sampling);
        }
        if !matches!(self.callbacks.roots, Roots::None) {
            let roots = ClientFeatures::ROOTS.with(ClientFeatures::ROOTS_LIST_CHANGED);
            features = features.with(roots);
        }
        match &self.callbacks.tasks {
            Some(tasks) => features.with(tasks.declares(features)),
            None => features,
        }
    }
}

impl ClientBuilder {
    /// Connects over a pair of byte streams.
    pub(crate) async fn connect_over<I, O>(
        self,
        runtime: RuntimeHandle,
        streams: (I, O),
    ) -> Result<Client, ConnectError>
    where
        I: AsyncRead + Send + Unpin + 'static,
        O: AsyncWrite + Send + Unpin + 'static,
    {
        let parts = self.parts(&runtime)?;
        let client_state = Arc::clone(&parts.client_state);
        let dialled = open_connection(streams, parts.config.clone(), client_state).await?;
        Ok(parts.start(dialled, None))
    }
}

impl<S> ClientBuilder<S> {
    /// The name of the client for people.
    #[cfg(all(feature = "auth", feature = "http-client"))]
    pub(crate) fn display_name(&self) -> &str {
        self.info.display_name()
    }

    /// The newest revision that the client accepts.
    #[cfg(all(feature = "auth", feature = "http-client"))]
    pub(crate) fn newest_revision(&self) -> Option<mcp_proto::Revision> {
        let revisions = self.config.revisions;
        revisions.newest_modern().or(revisions.newest_legacy())
    }

    /// Builds the state, the extensions and the configuration of a connection.
    pub(crate) fn parts(self, runtime: &RuntimeHandle) -> Result<Parts, ConnectError> {
        runtime.check().map_err(ConnectError::start)?;
        if let Some(uri) = self.wrong {
            return Err(ConnectError::Root(uri));
        }
        let info = RawBuf::encode(&self.info).unwrap_or_default();
        let declared = Declared::new(&self.extensions, &self.experimental)?;
        let (result_types, revisions) = (declared.result_types(), declared.revisions());
        let methods = declared.methods(self.callbacks.requests.iter().map(|(name, _)| &**name));
        let config = PreparedConfig::from(ClientConfig {
            info: info.decode().unwrap_or(self.config.info),
            capabilities: declared.add_to(self.features().capabilities()),
            result_types: &result_types,
            extension_revisions: &revisions,
            methods: &methods,
            ..self.config
        })
        .shared();
        let mut extensions = self.extensions;
        let late_results = extensions
            .iter_mut()
            .flat_map(|one| one.late_results.drain(..));
        let client_state = ClientState::new(
            self.callbacks,
            late_results.collect(),
            self.rounds,
            self.cache.then_some(self.cache_bounds),
            runtime.clone(),
        );
        Ok(Parts {
            client_state: Arc::new(client_state),
            extensions: Extensions::new(extensions),
            config,
            policy: self.restart,
        })
    }
}

/// The state, the extensions and the configuration of a client and its connections.
pub(crate) struct Parts {
    pub(crate) client_state: Arc<ClientState>,
    extensions: Extensions<Inner>,
    pub(crate) config: PreparedConfig<ClientConfig<'static>>,
    /// The policy for another connection after one that ended; `None`: there is no other.
    policy: Option<RestartPolicy>,
}

impl Parts {
    /// Makes the first connection by this function, and those that come after it.
    pub(crate) async fn dial<F>(self, dial: F) -> Result<Client, ConnectError>
    where
        F: Fn(PreparedConfig<ClientConfig<'static>>, Arc<ClientState>) -> Dialling
            + Send
            + Sync
            + 'static,
    {
        let (negotiation, config) = (self.config.negotiation, self.config.clone());
        let dial: Dial = Box::new(move |client_state, negotiation| {
            let config = (config.clone()).with(|config| config.negotiation = negotiation);
            dial(config, client_state)
        });
        let dialled = dial(Arc::clone(&self.client_state), negotiation).await?;
        let redial = self.policy.clone().map(|policy| Redial {
            dial,
            policy,
            negotiation,
        });
        Ok(self.start(dialled, redial))
    }

    /// Runs the connection that stands, and those that come after it.
    pub(in crate::client) fn start(self, dialled: Dialled, redial: Option<Redial>) -> Client {
        let Dialled {
            peer,
            server,
            child,
            run,
        } = dialled;
        let inner = Inner::new(
            Arc::clone(&self.client_state),
            self.extensions,
            peer,
            server,
            child,
            redial.is_some(),
        );
        let inner = Arc::new(inner);
        let runtime = self.client_state.runtime.clone();
        let supervising = supervise(Arc::downgrade(&inner), self.client_state, run, redial);
        runtime.spawn(Box::pin(supervising));
        Client::of(inner)
    }
}

impl<S> fmt::Debug for ClientBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("info", &self.info)
            .field("config", &self.config)
            .field("features", &self.features())
            .finish_non_exhaustive()
    }
}
