//! The configuration of a server before it is built.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::{CacheScope, LoggingLevel};
use mcp_proto::server::ListKind;
use mcp_proto::{Limits, Payload, PingPolicy, RevisionSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::parts::Parts;
use crate::model::implementation_setters;
use crate::server::StateKeys;
use crate::server::call::handler_context::Context;
use crate::server::call::handler_error::HandlerError;
use crate::server::call::output::ToolOutput;
use crate::server::call::service::BoxService;
use crate::server::caller::peer::Peer;
use crate::server::caller::rate::RateLimits;
use crate::server::extension::{Extension, NotificationContext, check_method};
use crate::server::items::item::Item;
use crate::server::items::method::{self, Method};
use crate::server::items::prompt::{Prompt, PromptOutput};
use crate::server::items::register_error::RegisterError;
use crate::server::items::resource::{CacheHint, Resource, ResourceOutput};
use crate::server::items::template::Template;
use crate::server::items::tool::Tool;
use crate::server::layers::{ConcurrencyLimit, ServerLayer};
use crate::server::registry::settings::Settings;

/// A server that is being configured: what it says of itself, what it offers, and the state that
/// its handlers share.
///
/// It is a value: a clone is independent of the original, apart from the state, which they share.
/// [`build`](Self::build) makes a [`Server`](crate::Server) and reports every mistake;
/// [`serve`](Self::serve) and [`Http::into_service`](crate::http::Http::into_service) build as
/// well. A [`Registry`](crate::server::Registry) changes a server that is built.
///
/// All handlers have one form: `Fn(Arguments, Context<S>) -> impl Future<Output = Result<T,
/// HandlerError>>`, without arguments for a resource. A closure, a function or an associated
/// function of the state is one.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::{Context, HandlerError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Forecast {
///     /// Where to look
///     city: String,
/// }
///
/// struct Weather {
///     provider: String,
/// }
///
/// async fn forecast(args: Forecast, cx: Context<Weather>) -> Result<String, HandlerError> {
///     Ok(format!("sunny in {}, says {}", args.city, cx.state().provider))
/// }
///
/// let server = Server::builder("weather", "1.0")
///     .with_state(Weather { provider: "example.com".into() })
///     .tool("forecast", "Forecast for a city", forecast)
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct ServerBuilder<S = ()> {
    pub(crate) parts: Parts,
    pub(in crate::server) state: Arc<S>,
}

impl ServerBuilder {
    pub(in crate::server) fn new(name: String, version: String) -> Self {
        let state = Arc::new(());
        Self {
            parts: Parts::new(Settings::new(name, version), &state),
            state,
        }
    }
}

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Sets the state that handlers reach by [`Context::state`]. It is for what is registered
    /// afterwards; handlers that were registered before keep the state they had.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use mcp_async::Server;
    ///
    /// let server = Server::builder("demo", "1.0")
    ///     .with_state(AtomicU32::new(0))
    ///     .tool("count", "Counts its calls", |(): (), cx| async move {
    ///         let calls = cx.state().fetch_add(1, Ordering::Relaxed) + 1;
    ///         Ok(calls.to_string())
    ///     })
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    ///
    /// A handler of another state is refused by the compiler:
    ///
    /// ```compile_fail,E0631
    /// # use mcp_async::Server;
    /// # use mcp_async::server::Context;
    /// let server = Server::builder("demo", "1.0")
    ///     .with_state(String::new())
    ///     .tool("a", "", |(): (), _: Context<u32>| async { Ok("") });
    /// ```
    pub fn with_state<T: Send + Sync + 'static>(mut self, state: T) -> ServerBuilder<T> {
        let state = Arc::new(state);
        self.parts.states.push(Arc::clone(&state) as _);
        ServerBuilder {
            parts: self.parts,
            state,
        }
    }

    implementation_setters!(parts.settings.info);

    /// Sets the instructions for models that use the server.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        let instructions = Some(instructions.into());
        self.set(|settings| settings.instructions = instructions)
    }

    /// Adds a paragraph to the instructions.
    pub fn add_instructions(self, paragraph: &str) -> Self {
        self.set(|settings| match &mut settings.instructions {
            Some(text) => text.extend(["\n\n", paragraph]),
            None => settings.instructions = Some(paragraph.to_owned()),
        })
    }

    /// Sets the revisions that the server speaks; all published ones by default.
    pub fn revisions(self, revisions: RevisionSet) -> Self {
        self.set(|settings| settings.config.revisions = revisions)
    }

    /// Sets the bounds of each connection. An output that holds no answer of the core is a mistake that [`build`](Self::build)
    /// reports.
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|settings| settings.config.limits = limits)
    }

    /// Pings legacy clients at the interval of this policy, and closes a connection after the misses of the policy. Without it,
    /// no pings are sent.
    pub fn ping(self, policy: PingPolicy) -> Self {
        self.set(|settings| settings.config.ping = Some(policy))
    }

    /// Sets whether each result of 2026-07-28 names the server; true by default. The handshake always does.
    pub fn identify(self, identify: bool) -> Self {
        self.set(|settings| settings.config.identify = identify)
    }

    /// Sets whether `$/cancelRequest`, which is not of MCP, cancels in legacy sessions; true by default.
    pub fn cancel_alias(self, accept: bool) -> Self {
        self.set(|settings| settings.config.cancel_alias = accept)
    }

    /// Writes `"id":null` in an error about an unreadable message of 2024-11-05, as the schema of that revision demands; it has no id
    /// otherwise.
    pub fn null_ids(self) -> Self {
        self.set(|settings| settings.config.null_ids = true)
    }

    // The compiler shows the bounds of these methods, with the comments in their lines, where a handler
    // does not fit.

    /// Registers a tool with typed arguments and a typed result ([`ToolOutput`]).
    ///
    /// A handler that needs a state, a `Context<MyState>`, is registered after
    /// [`with_state`](Self::with_state). Its error is a [`HandlerError`], into which `?` converts every other
    /// one: a function that returns `anyhow::Result` is called as `Ok(function().await?)`.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::{Context, Json};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add {
    ///     a: f64,
    ///     b: f64,
    /// }
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct Sum {
    ///     sum: f64,
    /// }
    ///
    /// let server = Server::builder("maths", "1.0").tool(
    ///     "add",
    ///     "Adds two numbers",
    ///     |args: Add, _: Context| async move { Ok(Json(Sum { sum: args.a + args.b })) },
    /// );
    /// # let _ = server;
    /// ```
    pub fn tool<A, T, F, Fut>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static, // S: `with_state` comes first
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: ToolOutput,
    {
        self.with(Tool::new(name).description(description).handler(handler))
    }

    /// Registers a resource: one URI and the handler that reads it ([`ResourceOutput`]).
    pub fn resource<T, F, Fut>(
        self,
        uri: impl Into<String>,
        name: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(Context<S>) -> Fut + Send + Sync + 'static, // S: `with_state` comes first
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: ResourceOutput,
    {
        self.with(Resource::new(uri, name).handler(handler))
    }

    /// Registers a resource template, whose variables are typed.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Note {
    ///     id: u64,
    /// }
    ///
    /// let server = Server::builder("notes", "1.0").template(
    ///     "notes://{id}",
    ///     "note",
    ///     |note: Note, _: Context| async move {
    ///         if note.id > 9 {
    ///             return Err(HandlerError::not_found());
    ///         }
    ///         Ok(format!("note {}", note.id))
    ///     },
    /// );
    /// # let _ = server;
    /// ```
    pub fn template<A, T, F, Fut>(
        self,
        uri_template: impl Into<String>,
        name: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static, // S: `with_state` comes first
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + Send + 'static,
        T: ResourceOutput,
    {
        self.with(Template::new(uri_template, name).handler(handler))
    }

    /// Registers a prompt whose arguments are a type.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Context;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// let server = Server::builder("travel", "1.0").prompt(
    ///     "trip",
    ///     "Plans a trip",
    ///     |trip: Trip, _: Context| async move { Ok(format!("Plan a trip to {}.", trip.city)) },
    /// );
    /// # let _ = server;
    /// ```
    pub fn prompt<A, T, F, Fut>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static, // S: `with_state` comes first
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: PromptOutput,
    {
        self.with(Prompt::new(name).description(description).handler(handler))
    }

    /// Adds a [`Tool`], [`Resource`], [`Template`] or [`Prompt`] with settings of its own. Each
    /// name, URI and template is registered once.
    pub fn with(mut self, item: impl Into<Item<S>>) -> Self {
        let item = item.into().bind(&self.state);
        self.parts.add(item);
        self
    }

    /// Sets the least severe log message that a legacy session is sent before its client chooses; `Info` otherwise.
    pub fn first_log_level(self, level: LoggingLevel) -> Self {
        self.set(|settings| settings.config.log_level = level)
    }

    /// Declares logging: handlers may then log to the client.
    pub fn logging(self) -> Self {
        self.set(|settings| settings.logging = true)
    }

    /// Sets the largest number of items on a page of a list; 1,000 otherwise, because there are
    /// clients that read one page only. Zero is a mistake.
    pub fn page_size(self, items: usize) -> Self {
        self.set(|settings| settings.page_size = items)
    }

    /// Sets the time for which clients of 2026-07-28 may cache lists, contents of resources and the
    /// result of `server/discover`, and whether others may share them. Otherwise
    /// they may not.
    pub fn cache(self, ttl: Duration, scope: CacheScope) -> Self {
        self.set(|settings| settings.hint = CacheHint::new(ttl, scope))
    }

    /// Registers an extension of the protocol, or something that converts into one: what it declares and serves.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Extension;
    ///
    /// let server = Server::builder("demo", "1.0")
    ///     .extension(Extension::new("com.example/marker"))
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    pub fn extension(mut self, extension: impl Into<Extension<S>>) -> Self {
        extension.into().register(&self.state, &mut self.parts);
        self
    }

    /// Declares a non-standard capability and its settings, an object.
    pub fn experimental_capability(
        mut self,
        name: impl Into<String>,
        settings: impl Serialize,
    ) -> Self {
        self.parts.declare_experimental(name.into(), &settings);
        self
    }

    /// Registers a custom method that belongs to no [`Extension`]: its handler receives raw
    /// parameters and returns an object.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Context;
    /// use mcp_async::json::RawBuf;
    ///
    /// let server = Server::builder("demo", "1.0")
    ///     .method("example.com/echo", |params: RawBuf, _: Context| async move { Ok(params) });
    /// # let _ = server;
    /// ```
    pub fn method<T, F, Fut>(mut self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static, // S: `with_state` comes first
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: Payload + Send + 'static,
    {
        let name = name.into();
        let Parts {
            settings, mistakes, ..
        } = &mut self.parts;
        match check_method(None, &name) {
            Ok(()) => {
                let begin = method::bind(method::raw(handler), &self.state);
                settings.add_method(Method::new(name, begin), mistakes);
            }
            Err(reason) => mistakes.push(RegisterError::new("method", &name, &reason)),
        }
        self
    }

    /// Sets a handler for the notification of a client that its roots have changed: some were added, or are gone. It is called at once
    /// and in the order of arrival, and must not block. A later call replaces the handler.
    ///
    /// What a session knows of the roots is then out of date; the next call asks for them by
    /// [`CallContext::roots`](crate::server::CallContext::roots). In 2026-07-28 clients send no such notification, and there is no session:
    /// each call asks. A root can also vanish without a notification: see [`Roots::vanished`](crate::server::Roots::vanished).
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use mcp_async::Server;
    /// use mcp_async::server::{NotificationContext, Roots};
    ///
    /// /// The roots of a session, once they were asked for.
    /// #[derive(Default)]
    /// struct Known(Mutex<Option<Roots>>);
    ///
    /// let server = Server::builder("files", "1.0").on_roots_changed(|cx: NotificationContext| {
    ///     if let Some(known) = cx.session_state::<Known>()
    ///         && let Ok(mut roots) = known.0.lock()
    ///     {
    ///         *roots = None;
    ///     }
    /// });
    /// # let _ = server;
    /// ```
    pub fn on_roots_changed<F>(self, handler: F) -> Self
    where
        F: Fn(NotificationContext<S>) + Send + Sync + 'static, // S: `with_state` comes first
    {
        let state = Arc::clone(&self.state);
        self.set(|settings| {
            settings.roots_changed = Some(Arc::new(move |peer: &Peer| {
                handler(NotificationContext::new(peer, &state));
            }));
        })
    }

    /// Adds a layer around the service of each connection. The layer that was added last receives a call first.
    pub fn layer(self, layer: impl ServerLayer) -> Self {
        self.set(|settings| {
            settings.finds_tools = true;
            settings.layers.push(Arc::new(move |service| {
                Box::new(layer.layer(service)) as BoxService
            }));
        })
    }

    /// Sets the tracing of calls, outside of all layers: without this each call has a span that
    /// begins a trace of its own.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::layers::Trace;
    ///
    /// let server = Server::builder("demo", "1.0")
    ///     .trace(Trace::new().linking(|span, trace| {
    ///         // An exporter would make `trace` the parent of `span` here.
    ///         let _ = (span, trace.trace_id());
    ///     }));
    /// # let _ = server;
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace(self, trace: crate::server::layers::Trace) -> Self {
        self.set(|settings| settings.trace = trace)
    }

    /// Runs at most so many handlers at a time, over all connections; the others wait for their
    /// turn. Zero is a mistake. It is a [`ConcurrencyLimit`] added as a [`layer`](Self::layer).
    pub fn concurrency(mut self, handlers: usize) -> Self {
        if handlers == 0 {
            self.parts.mistakes.push(RegisterError::zero("concurrency"));
        }
        self.layer(ConcurrencyLimit::new(handlers))
    }

    /// Limits the rates at which each connection may call, complete and log.
    pub fn rate_limits(self, limits: RateLimits) -> Self {
        self.set(|settings| settings.rates = limits)
    }

    /// Sets the time between two progress notifications of a call that reports more often;
    /// 100 ms otherwise. The first 32 leave at once, then one in each interval, always with the
    /// newest value, and the last one before the answer. Zero lets all of them leave.
    pub fn progress_interval(self, interval: Duration) -> Self {
        self.set(|settings| settings.config.progress_interval = interval)
    }

    /// Seals the request states of 2026-07-28 with these keys; with random ones of this process
    /// otherwise, which a fleet cannot share: see [`StateKeys`].
    pub fn state_keys(self, keys: StateKeys) -> Self {
        self.set(|settings| settings.keys = Some(keys))
    }

    /// Declares `listChanged` for this kind, even while no item of it is registered.
    pub fn list_changed(self, kind: ListKind) -> Self {
        self.set(|settings| settings.list_changed.push(kind))
    }

    /// Declares `listChanged` for every kind that has items when a connection begins, and
    /// resource subscriptions. Changes are made and reported through a
    /// [`Registry`](crate::server::Registry).
    pub fn change_notifications(self) -> Self {
        self.set(|settings| settings.change_notifications = true)
    }

    /// Holds legacy sessions over HTTP to the transports draft of spring 2026, which was never published:
    /// requests and notifications repeat their method and what they are about in headers, or are
    /// refused with -32001, and the session's own stream carries no questions. Its revision,
    /// `DRAFT-2026-v1`, is accepted, too.
    ///
    /// A tool may repeat a number in a header there (`"type": "number"` with `x-mcp-header`); it
    /// is served in these sessions only, and is a mistake without this setting.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::{Tool, ToolCall};
    /// use mcp_async::json::RawBuf;
    ///
    /// let schema = r#"{"type":"object","properties":{
    ///     "load":{"type":"number","x-mcp-header":"Load"}}}"#;
    /// let tool = Tool::new("route")
    ///     .input_schema(RawBuf::parse(schema)?)
    ///     .raw(|_: ToolCall, _| async { Ok("routed") });
    /// let builder = Server::builder("demo", "1.0").with(tool);
    /// assert!(builder.clone().build().is_err());
    /// assert!(builder.draft_profile().build().is_ok());
    /// # Ok::<(), mcp_async::json::Fault>(())
    /// ```
    pub fn draft_profile(self) -> Self {
        self.set(|settings| settings.draft = true)
    }

    /// Declares tasks of 2025-11-25, which a layer serves.
    pub(crate) fn declare_core_tasks(self) -> Self {
        self.set(|settings| settings.core_tasks = true)
    }

    pub(in crate::server) fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.parts.settings);
        self
    }
}

impl<S> Clone for ServerBuilder<S> {
    fn clone(&self) -> Self {
        Self {
            parts: self.parts.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for ServerBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder").finish_non_exhaustive()
    }
}
