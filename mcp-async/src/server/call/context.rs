//! The context of an untyped call, and the origin of its message.

use core::any::Any;
use core::fmt::{self, Write};
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{self, Poll};
use std::sync::{Arc, Weak};

use bytes::BytesMut;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use mcp_proto::json::{Object, RawBuf};
use mcp_proto::model::{ClientFeatures, LoggingLevel};
use mcp_proto::rpc::Method;
use mcp_proto::server::{AskOptions, RequestContext as Request};
use mcp_proto::{Channel, Outcome, Payload, Revision, Token};
use serde::de::DeserializeOwned;

use super::call_host::CallHost;
use crate::connection::{Answered, PendingRequest};
use crate::runtime::RuntimeHandle;
use crate::server::call::handler_error::HandlerError;
use crate::server::caller::Machine;
use crate::server::caller::ask::Ask;
use crate::server::caller::client_info::RequestMeta;
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;
use crate::trace_context::TraceContext;
use crate::values::Values;

/// The handle of one call: cheap to clone, and usable from any task for as long as the call
/// is not over.
///
/// Its messages go straight into the connection's output, so they reach the client in the order of
/// the calls to the handle, before the answer. While the output is full, a send waits.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::server::service_fn;
/// use mcp_async::model::LoggingLevel;
///
/// #[derive(serde::Serialize)]
/// struct Counted {
///     steps: u32,
/// }
///
/// let counter = service_fn(|call| {
///     let cx = call.context().clone();
///     call.answer(async move {
///         for step in 1..=10u32 {
///             cx.progress(f64::from(step)).total(10.0).await;
///         }
///         cx.log(LoggingLevel::Info, "counted to ten").await;
///         Ok::<_, ErrorReply>(Counted { steps: 10 })
///     })
/// });
/// # let _ = counter;
/// ```
#[derive(Clone)]
pub struct CallContext {
    pub(in crate::server) host: Arc<dyn CallHost>,
    request_meta: RequestMeta,
    pub(in crate::server) token: Token,
    /// The origin of the call, to which its messages go.
    pub(in crate::server) arrived: Arrived,
    /// The verified sender.
    principal: Option<Principal>,
    /// The values that layers have added.
    pub(in crate::server) extensions: Values,
    /// The typed server that answers the call; only its registry knows the type.
    pub(in crate::server) server: Option<Weak<dyn Any + Send + Sync>>,
    /// A question ends the round.
    pub(in crate::server) suspends: bool,
    revision: Revision,
    features: ClientFeatures,
    progress: bool,
    log_level: Option<LoggingLevel>,
}

/// The origin of a message.
#[derive(Clone)]
pub(crate) struct Arrived {
    pub(crate) channel: Channel,
    /// The head of its HTTP request.
    pub(crate) head: Option<Arc<Parts>>,
}

/// Waits for the end of a call.
struct Cancelled<'a> {
    context: &'a CallContext,
    /// Its number at the host of the call.
    number: Option<u64>,
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self { context, number } = &mut *self;
        context.host.poll_over(cx, context.token, number)
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.context.host.leave_over(number);
        }
    }
}

impl CallContext {
    /// Creates a context, which [`renew`](Self::renew) completes.
    pub(in crate::server) fn new(
        host: Arc<dyn CallHost>,
        token: Token,
        request: &Request<'_>,
    ) -> Self {
        Self {
            host,
            request_meta: RequestMeta::default(),
            token,
            arrived: Arrived::default(),
            principal: None,
            extensions: Values::default(),
            server: None,
            suspends: false,
            revision: request.revision,
            features: request.features,
            progress: request.progress,
            log_level: request.log_level,
        }
    }

    /// Sets the request that the context belongs to.
    pub(in crate::server) fn renew(
        &mut self,
        (token, arrived): (Token, Arrived),
        request: &Request<'_>,
        request_meta: RequestMeta,
        principal: Option<Principal>,
    ) {
        self.token = token;
        self.arrived = arrived;
        self.request_meta = request_meta;
        self.principal = principal;
        self.extensions = Values::default();
        self.server = None;
        self.suspends = false;
        self.revision = request.revision;
        self.features = request.features;
        self.progress = request.progress;
        self.log_level = request.log_level;
    }

    /// Moves the context out for the job of the call. Only the values that are `Copy` stay.
    pub(in crate::server) fn begin(&mut self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            request_meta: mem::take(&mut self.request_meta),
            token: self.token,
            arrived: mem::take(&mut self.arrived),
            principal: self.principal.take(),
            extensions: mem::take(&mut self.extensions),
            server: self.server.take(),
            ..*self
        }
    }

    /// Returns the context for the handler of the call. What only a handler reads moves into it; the rest is still for the job.
    pub(in crate::server) fn for_handler(&mut self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            request_meta: mem::take(&mut self.request_meta),
            token: self.token,
            arrived: Arrived {
                channel: self.arrived.channel,
                head: self.arrived.head.take(),
            },
            principal: self.principal.clone(),
            extensions: mem::take(&mut self.extensions),
            server: self.server.take(),
            ..*self
        }
    }

    /// Asks the client something within this call: a nested request of a legacy session.
    ///
    /// This is the low-level way: in 2026-07-28 a server makes no requests, and there the
    /// error is [`AskError::NotInRevision`](crate::server::AskError::NotInRevision). Questions under a key
    /// work in both eras. Dropping the future takes the question back.
    ///
    /// # Errors
    /// The future's are [`AskError`](crate::server::AskError).
    pub fn ask<'a, T: DeserializeOwned>(
        &'a self,
        method: Method<'a>,
        params: &'a (dyn Payload + Sync),
    ) -> Ask<'a, T> {
        Ask::new(
            self.pending(),
            Some((self.token, self.revision())),
            method,
            params,
            AskOptions::default(),
        )
    }

    /// Lets the client poll: ends the connection that would carry its answer, while the call
    /// continues. The client comes back after `retry` and finds what it missed.
    ///
    /// Only over HTTP in a session of 2025-11-25; elsewhere nothing happens. Says whether it did.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_async::server::CallContext;
    ///
    /// async fn long_work(cx: &CallContext) {
    ///     // Nobody needs to hold a connection open for the next ten minutes.
    ///     cx.close_stream(Duration::from_secs(60)).await;
    /// }
    /// ```
    pub async fn close_stream(&self, retry: core::time::Duration) -> bool {
        self.revision.has_event_polling() && self.host.disconnect(self.arrived.channel, retry)
    }

    /// Resolves when the call is over: cancelled, answered, or the connection gone.
    ///
    /// A job's own future need not wait for it, it is dropped; this is for work that was moved
    /// to another task or thread.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        Cancelled {
            context: self,
            number: None,
        }
    }

    /// Returns whether the call is over or cancelled.
    pub fn is_cancelled(&self) -> bool {
        !self.host.is_live(self.token)
    }

    /// Returns whether what the handler does still counts for its client: the call is neither over
    /// nor cancelled, and if it is a [task] in a store that several processes
    /// share, no other process can have declared it failed, because this one has its lease. The
    /// method asks neither the client nor the store. A process that was paused, or cut off from the
    /// store, finds it false when it wakes: ask before a side effect.
    ///
    /// ```
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// # async fn prepare() {}
    /// # async fn pay() {}
    /// async fn order((): (), cx: Context) -> Result<&'static str, HandlerError> {
    ///     prepare().await;
    ///     if !cx.is_current() {
    ///         return Err("the task was given up".into());
    ///     }
    ///     pay().await;
    ///     Ok("paid")
    /// }
    /// ```
    ///
    /// [task]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/tasks/index.html
    pub fn is_current(&self) -> bool {
        self.host.is_current(self.token)
    }

    /// The revision of the request.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// The features of the client, as far as this request may use them.
    pub const fn client(&self) -> ClientFeatures {
        self.features
    }

    /// Returns the name of the client as it states it: for display, not for decisions.
    /// In a legacy session it is what `initialize` said; in 2026-07-28 it is what this very
    /// request says, if anything.
    pub fn client_info(&self) -> Option<crate::model::Implementation> {
        self.raw_client_info()?.decode().ok()
    }

    /// [`client_info`](Self::client_info) as it came.
    pub fn raw_client_info(&self) -> Option<&RawBuf> {
        self.request_meta.client.as_deref()
    }

    /// The trace that the request belongs to, if it told a valid one. A span of the
    /// server's own continues it by [`child`](TraceContext::child).
    pub fn trace_context(&self) -> Option<&TraceContext> {
        self.request_meta.trace.as_deref()
    }

    /// Returns the settings of an extension that the client declares: in 2026-07-28 on this very
    /// request, in a legacy session by `initialize`, also where another process continues
    /// the session from a store, unless its extensions take more than 16 KiB. An extension whose
    /// settings are no object is not declared.
    ///
    /// ```
    /// use mcp_async::server::CallContext;
    ///
    /// #[derive(serde::Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Ui {
    ///     mime_types: Vec<String>,
    /// }
    ///
    /// fn shows_html(cx: &CallContext) -> bool {
    ///     let settings = cx.client_extension("io.modelcontextprotocol/ui");
    ///     let ui = settings.and_then(|settings| settings.decode::<Ui>().ok());
    ///     ui.is_some_and(|ui| ui.mime_types.iter().any(|it| it.starts_with("text/html")))
    /// }
    /// # let _ = shows_html;
    /// ```
    pub fn client_extension(&self, name: &str) -> Option<RawBuf> {
        self.extension_settings(name).map(|it| it.as_raw().into())
    }

    /// Returns the settings of an extension that the client declares, like
    /// [`client_extension`](Self::client_extension).
    ///
    /// # Errors
    /// The client does not declare it: [`HandlerError::missing_extension`].
    pub fn require_extension(&self, name: &str) -> Result<RawBuf, HandlerError> {
        let settings = self.client_extension(name);
        settings.ok_or_else(|| HandlerError::missing_extension(name))
    }

    /// Returns whether the client declares an extension. It does not count where the server has the
    /// extension and it is [off](crate::server::Extension::revisions) in the revision of the request.
    pub fn has_client_extension(&self, name: &str) -> bool {
        self.extension_settings(name).is_some()
    }

    fn extension_settings(&self, name: &str) -> Option<Object<'_>> {
        let extensions = self.request_meta.extensions.as_ref()?;
        let settings = extensions.as_raw().object()?.get(name)?.object()?;
        if self
            .peer()
            .shared
            .lock()
            .role_state
            .is_off(name, self.revision)
        {
            return None;
        }
        Some(settings)
    }

    /// Returns `_meta` of the request, an object, if it has a member that the protocol does not
    /// define; the others have methods of their own here.
    pub fn meta(&self) -> Option<&RawBuf> {
        self.request_meta.meta.as_deref()
    }

    /// Returns true if the client asked for progress.
    pub const fn wants_progress(&self) -> bool {
        self.progress
    }

    /// The least severe log message that the client wants.
    pub const fn log_level(&self) -> Option<LoggingLevel> {
        self.log_level
    }

    /// Returns the verified sender of the request, with the claims of this request; `None` on
    /// standard streams. The request state of a call is bound to the name of the sender.
    ///
    /// ```
    /// # use mcp_async::server::{CallContext, Principal};
    /// struct Scopes(Vec<String>);
    ///
    /// fn may_write(cx: &CallContext) -> bool {
    ///     let scopes = cx.principal().and_then(Principal::claims::<Scopes>);
    ///     scopes.is_some_and(|scopes| scopes.0.iter().any(|scope| scope == "write"))
    /// }
    /// # let _ = may_write;
    /// ```
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Returns the name of the principal.
    pub(in crate::server) fn principal_name(&self) -> Option<&str> {
        self.principal().map(Principal::name)
    }

    /// Returns the value of this type that a layer has added by
    /// [`Call::set_extension`](crate::server::Call::set_extension), or else the one that middleware in front of the
    /// HTTP service has put into the extensions of the request.
    ///
    /// ```
    /// use mcp_async::server::{CallContext, HandlerError};
    ///
    /// struct User {
    ///     id: u64,
    /// }
    ///
    /// fn user(cx: &CallContext) -> Result<&User, HandlerError> {
    ///     Ok(cx.extension::<User>().ok_or("a route without the middleware")?)
    /// }
    /// # let _ = user;
    /// ```
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let added = self.extensions.get();
        added.or_else(|| self.arrived.extension())
    }

    /// The head of the HTTP request that made the call, with what layers in front of the server
    /// put into its extensions; `None` on a pipe. Header fields are the client's to choose.
    ///
    /// ```
    /// use mcp_async::server::CallContext;
    ///
    /// fn language(cx: &CallContext) -> Option<&str> {
    ///     cx.http()?.headers.get("accept-language")?.to_str().ok()
    /// }
    /// # let _ = language;
    /// ```
    pub fn http(&self) -> Option<&Parts> {
        self.arrived.head.as_deref()
    }

    /// From now on the call is served by this host. If it `leaves` its exchange before its handler runs, it keeps a copy of the head.
    pub(super) fn detach_to(&mut self, host: Arc<dyn CallHost>, leaves: bool) {
        self.host = host;
        if leaves {
            self.arrived.head = self.arrived.head.as_deref().map(copied).map(Arc::new);
        }
        // Its progress is of use without a token of the request.
        self.progress = true;
    }

    /// The connection that the call came from.
    pub fn peer(&self) -> Peer {
        Arc::clone(&self.host).peer()
    }

    /// Returns the runtime of the connection.
    pub(in crate::server) fn runtime(&self) -> RuntimeHandle {
        self.peer().shared.runtime.clone()
    }

    /// The time on the connection's clock.
    pub(in crate::server) fn now(&self) -> mcp_proto::Instant {
        self.host.now()
    }

    /// The call as its host knows it: the request, and where its messages go.
    pub(in crate::server) const fn call(&self) -> (Token, Channel) {
        (self.token, self.arrived.channel)
    }

    /// A request to the client on behalf of the call.
    pub(in crate::server) fn pending(&self) -> PendingRequest<'static, Machine> {
        PendingRequest::shared(self.peer().shared).on(self.arrived.channel)
    }

    /// The call is over without an answer of its own.
    pub(in crate::server) fn forget(&self) {
        self.host.forget(self.token);
    }

    pub(in crate::server) fn poll_respond(
        &self,
        cx: &mut task::Context<'_>,
        outcome: Outcome<'_>,
    ) -> Poll<Answered> {
        self.host
            .poll_respond(cx, self.call(), self.progress, outcome)
    }
}

impl Default for Arrived {
    /// From a pipe.
    fn default() -> Self {
        Self {
            channel: Channel::PIPE,
            head: None,
        }
    }
}

impl Arrived {
    /// Returns the value of this type that middleware has added to the HTTP request.
    pub(in crate::server) fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.head.as_deref()?.extensions.get()
    }
}

/// Copies a head whose texts share the buffer of its connection, which a call that runs for long must not hold.
fn copied(head: &Parts) -> Parts {
    let mut head = head.clone();
    let uri = head.uri.path_and_query().map_or("", PathAndQuery::as_str);
    let values = head.headers.values().map(HeaderValue::len);
    let mut texts = BytesMut::with_capacity(values.fold(uri.len(), usize::saturating_add));
    for value in head.headers.values_mut() {
        texts.extend_from_slice(value.as_bytes());
        let copy = HeaderValue::from_maybe_shared(texts.split().freeze());
        // A copy of a valid value is valid.
        if let Ok(mut copy) = copy {
            copy.set_sensitive(value.is_sensitive());
            *value = copy;
        }
    }
    if write!(texts, "{}", head.uri).is_ok()
        && let Ok(uri) = Uri::from_maybe_shared(texts.freeze())
    {
        head.uri = uri;
    }
    head
}

#[cfg(feature = "tracing")]
impl CallContext {
    /// The id of the request, as text for a span.
    pub(in crate::server) fn request_id(&self) -> Option<String> {
        self.host.request_id(self.token)
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("token", &self.token)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
