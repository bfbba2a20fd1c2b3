//! A server of typed handlers.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::CacheScope;
use mcp_proto::server::{Blueprint, Growing, ListKind, ServerConfig};
use mcp_proto::{Limits, Payload, PingPolicy, RevisionSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower_layer::Layer;

use super::handler_error::HandlerError;
use super::inner::{BoxService, Inner};
use super::item::{Item, RegisterError};
use super::layers::ConcurrencyLimit;
use super::output::ToolOutput;
use super::prompt::{Prompt, PromptOutput};
use super::rate::RateLimits;
use super::registry::Registry;
use super::resource::{Hint, Resource, ResourceOutput};
use super::router::Method;
use super::template::Template;
use super::tool::Tool;
use super::{Context, Keys, Service};
use crate::model::Icon;

/// A server made of typed handlers, which serves every revision alike.
///
/// The adapters name it with their runtime filled in; `R` matters only to
/// [`serve`](Self::serve), [`serve_stdio`](Self::serve_stdio) and
/// [spawned](Tool::spawned) tools, and may be `()` elsewhere. Clones are the same server. What
/// it declares follows from what is registered when a connection begins.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Context;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Forecast {
///     /// Where to look
///     city: String,
/// }
///
/// let server = Server::<()>::new("weather", "1.0").tool(
///     "forecast",
///     "Forecast for a city",
///     |args: Forecast, _: Context| async move { Ok(format!("sunny in {}", args.city)) },
/// );
/// # let _ = server;
/// ```
#[must_use = "a server does nothing until it serves a connection"]
pub struct Server<R> {
    pub(super) inner: Arc<Inner>,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Server<R> {
    /// A server of this name and version, without anything to serve yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            inner: Inner::new(name.into(), version.into()),
            runtime: PhantomData,
        }
    }

    /// What people call it.
    pub fn title(self, title: impl Into<String>) -> Self {
        let title = Some(title.into());
        self.set(|settings| settings.info.title = title)
    }

    /// What it is for.
    pub fn description(self, description: impl Into<String>) -> Self {
        let description = Some(description.into());
        self.set(|settings| settings.info.description = description)
    }

    /// Where to read about it.
    pub fn website(self, url: impl Into<String>) -> Self {
        let url = Some(url.into());
        self.set(|settings| settings.info.website_url = url)
    }

    /// One more picture of it: `https:` or `data:` (JR-48).
    pub fn icon(self, icon: Icon) -> Self {
        self.set(|settings| settings.info.icons.push(icon))
    }

    /// How a model should use it.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        let instructions = Some(instructions.into());
        self.set(|settings| settings.instructions = instructions)
    }

    /// The revisions that it speaks; all published ones otherwise.
    pub fn revisions(self, revisions: RevisionSet) -> Self {
        self.set(|settings| settings.revisions = revisions)
    }

    /// The bounds of each connection.
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|settings| settings.limits = limits)
    }

    /// Asks legacy clients now and then whether they are still there.
    pub fn ping(self, policy: PingPolicy) -> Self {
        self.set(|settings| settings.ping = Some(policy))
    }

    /// A tool: its arguments are a type, and so is what it comes to ([`ToolOutput`]).
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
    /// let server = Server::<()>::new("maths", "1.0").tool(
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
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: ToolOutput,
    {
        self.with(Tool::new(name).description(description).handler(handler))
    }

    /// A resource: one URI, and what reading it comes to ([`ResourceOutput`]).
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Context;
    ///
    /// let server = Server::<()>::new("demo", "1.0")
    ///     .resource("demo://greeting", "greeting", |_: Context| async { Ok("hello") });
    /// # let _ = server;
    /// ```
    pub fn resource<T, F, Fut>(
        self,
        uri: impl Into<String>,
        name: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: ResourceOutput,
    {
        self.with(Resource::new(uri, name).handler(handler))
    }

    /// Resources behind a URI template: the variables are a type.
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
    /// let server = Server::<()>::new("notes", "1.0").template(
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
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        A: DeserializeOwned + Send + 'static,
        T: ResourceOutput,
    {
        self.with(Template::new(uri_template, name).handler(handler))
    }

    /// A prompt: its arguments are a type.
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
    /// let server = Server::<()>::new("travel", "1.0").prompt(
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
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: PromptOutput,
    {
        self.with(Prompt::new(name).description(description).handler(handler))
    }

    /// A [`Tool`], [`Resource`], [`Template`] or [`Prompt`] with more to say; it takes the place
    /// of one with the same name, URI or template. One that cannot be served is left out, and
    /// [`check`](Self::check) reports it.
    pub fn with(self, item: impl Into<Item>) -> Self {
        // Whether it is served under the transports draft is known when all is said.
        if let Err(error) = self.inner.add(item.into(), true) {
            self.inner.report(error);
        }
        self
    }

    /// Declares logging: handlers may then log to the client (LG-01).
    pub fn logging(self) -> Self {
        self.set(|settings| settings.logging = true)
    }

    /// How many items a page of a list has at most; 1000 otherwise, because there are clients
    /// that read one page only.
    pub fn page_size(self, items: usize) -> Self {
        self.set(|settings| settings.page_size = items.max(1))
    }

    /// How long clients of 2026-07-28 may keep lists, contents of resources and what the server
    /// says of itself, and whether others may share them (CH-01, CH-10). Otherwise they may not.
    pub fn cache(self, ttl: Duration, scope: CacheScope) -> Self {
        self.set(|settings| settings.hint = Hint::new(ttl, scope))
    }

    /// Declares an extension of the protocol by its name with a prefix, and its settings, an
    /// object (since 2026-07-28).
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_proto::json::RawBuf;
    ///
    /// let server = Server::<()>::new("demo", "1.0")
    ///     .extension("com.example/sorting", RawBuf::parse(r#"{"orders":["name"]}"#)?);
    /// # let _ = server;
    /// # Ok::<(), mcp_proto::json::Fault>(())
    /// ```
    pub fn extension(self, name: impl Into<String>, settings: impl Serialize) -> Self {
        self.declare(name.into(), &settings, |all| &mut all.extensions)
    }

    /// Declares something that nobody has standardised, and its settings, an object.
    pub fn experimental(self, name: impl Into<String>, settings: impl Serialize) -> Self {
        self.declare(name.into(), &settings, |all| &mut all.experimental)
    }

    /// A method of one's own: the handler gets the parameters as they came, and its result is
    /// an object.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Context;
    /// use mcp_proto::json::RawBuf;
    ///
    /// let server = Server::<()>::new("demo", "1.0")
    ///     .method("example.com/echo", |params: RawBuf, _: Context| async move { Ok(params) });
    /// # let _ = server;
    /// ```
    pub fn method<T, F, Fut>(self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(RawBuf, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: Payload + Send + 'static,
    {
        let method = Method::new(name.into(), handler);
        self.set(|settings| {
            settings.methods.retain(|other| other.name != method.name);
            settings.methods.push(Arc::new(method));
        })
    }

    /// Wraps what serves each connection; the layer that was added last sees a call first.
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<BoxService> + Send + Sync + 'static,
        L::Service: Service,
    {
        self.set(|settings| {
            settings.layers.push(Arc::new(move |service| {
                Box::new(layer.layer(service)) as BoxService
            }));
        })
    }

    /// How calls are traced, outside of all layers: without this each has a span that begins a
    /// trace of its own.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::layers::Trace;
    ///
    /// let server = Server::<()>::new("demo", "1.0")
    ///     .trace(Trace::new().linking(|span, trace| {
    ///         // An exporter would make `trace` the parent of `span` here.
    ///         let _ = (span, trace.trace_id());
    ///     }));
    /// # let _ = server;
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace(self, trace: super::layers::Trace) -> Self {
        self.set(|settings| settings.trace = trace)
    }

    /// Runs at most so many handlers at a time, over all connections; the others wait for their
    /// turn. It is a [`ConcurrencyLimit`] added as a [`layer`](Self::layer).
    ///
    /// ```
    /// use mcp_async::Server;
    ///
    /// let server = Server::<()>::new("demo", "1.0").concurrency(64);
    /// # let _ = server;
    /// ```
    pub fn concurrency(self, handlers: usize) -> Self {
        self.layer(ConcurrencyLimit::new(handlers))
    }

    /// How often each connection may call, complete and log (TL-13, CP-07, LG-09).
    pub fn rate_limits(self, limits: RateLimits) -> Self {
        self.set(|settings| settings.rates = limits)
    }

    /// Sets the time between two progress notifications of a call that reports more often (PG-06);
    /// 100 ms otherwise. The first 32 leave at once, then one in each interval, always with the
    /// newest value, and the last one before the answer. Zero lets all of them leave.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_async::Server;
    ///
    /// let server = Server::<()>::new("demo", "1.0").progress_interval(Duration::from_secs(1));
    /// # let _ = server;
    /// ```
    pub fn progress_interval(self, interval: Duration) -> Self {
        self.set(|settings| settings.progress_interval = interval)
    }

    /// Seals the request states of 2026-07-28 with these keys; with random ones of this process
    /// otherwise, which a fleet cannot share: see [`Keys`].
    pub fn keys(self, keys: Keys) -> Self {
        self.set(|settings| settings.keys = Some(keys))
    }

    /// Declares that lists of this kind may change, and the kind itself though there is nothing
    /// of it yet. Taking a [`registry`](Self::registry) says so of every kind that has items.
    pub fn changing(self, kind: ListKind) -> Self {
        self.set(|settings| settings.changing.push(kind))
    }

    /// The handle through which the running server is changed and ended.
    pub fn registry(&self) -> Registry {
        self.inner.set(|settings| settings.registry = true);
        Registry::new(&self.inner)
    }

    /// Whether everything that was registered can be served.
    ///
    /// # Errors
    /// The first item that cannot, and why: a tool or resource without a handler, a template
    /// that is none, arguments that are no object, settings that are no JSON.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Tool;
    ///
    /// let server = Server::<()>::new("demo", "1.0").with(Tool::new("forgotten"));
    /// assert_eq!(server.check().unwrap_err().to_string(), "tool `forgotten`: no handler");
    /// ```
    pub fn check(&self) -> Result<(), RegisterError> {
        self.inner.check()
    }

    /// What the protocol layer is told of it, as of now.
    pub fn config(&self) -> ServerConfig<'static> {
        *self.blueprint().config()
    }

    /// The same, for those who make many machines of it.
    pub(crate) fn blueprint(&self) -> Blueprint<'static, Growing> {
        self.inner.view().blueprint
    }

    /// Some of its sessions are held to the transports draft.
    #[cfg(feature = "http")]
    pub(crate) fn hold_to_draft(&self) {
        self.inner.set(|settings| settings.draft = true);
    }

    fn set(self, change: impl FnOnce(&mut super::inner::Settings)) -> Self {
        self.inner.set(change);
        self
    }

    fn declare(
        self,
        name: String,
        settings: &impl Serialize,
        into: fn(&mut super::inner::Settings) -> &mut Vec<(String, RawBuf)>,
    ) -> Self {
        match RawBuf::encode(settings) {
            Ok(value) if value.as_raw().object().is_some() => {
                self.set(|settings| into(settings).push((name, value)))
            }
            _ => {
                self.inner.report(RegisterError::settings(&name));
                self
            }
        }
    }
}

impl<R> Clone for Server<R> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            runtime: PhantomData,
        }
    }
}

impl<R> fmt::Debug for Server<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
