//! Extensions of the protocol that an application serves.
//!
//! An [`Extension`] has a name and settings, which the server declares, and what the server does
//! for it: methods, notifications that clients send, layers around calls. It is registered by
//! [`ServerBuilder::extension`](super::ServerBuilder::extension). An extension is off unless it is
//! registered.
//!
//! A client declares an extension as well. Handlers read that from their context:
//! [`CallContext::client_extension`](super::CallContext::client_extension) has its settings,
//! [`CallContext::require_extension`](super::CallContext::require_extension) refuses a call
//! without it.

mod cached;
pub(super) mod declaration;
mod filter;
mod method;
mod names;
mod notification;

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::{Payload, Revision, RevisionSet};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::filter::ExtensionFilter;
use self::notification::ExtensionNotification;
use super::ListKind;
use super::background::Background;
use super::layers::ServerLayer;
use crate::server::call::handler_context::Context;
use crate::server::call::handler_error::HandlerError;
use crate::server::call::service::{BoxService, Wrap};
use crate::server::call::subscriber::Subscriber;
use crate::server::items::item::Item;
use crate::server::items::register_error::RegisterError;

pub use self::cached::Cached;
pub(super) use self::declaration::Declaration;
pub use self::method::ExtensionMethod;
pub(super) use self::names::check_method;
pub use self::notification::NotificationContext;

pub(super) use self::filter::Filter;
pub(super) use self::notification::Notification;

/// An extension of the protocol: what the server declares of it, and what it serves for it.
///
/// It is a value like a [`Tool`](super::Tool): a library can offer one as a function, or as a type that
/// converts into one, and [`ServerBuilder::extension`](super::ServerBuilder::extension) registers it. `S` is the
/// state that its handlers share with those of the server.
///
/// Names are checked when the server is built: an extension has a name with a prefix, such as
/// `com.example/jobs`, and cannot use the names of the protocol or of an official extension
/// for its methods.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::{Context, Extension, HandlerError};
///
/// #[derive(serde::Serialize)]
/// struct Settings {
///     formats: [&'static str; 2],
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Convert {
///     amount: f64,
/// }
///
/// #[derive(serde::Serialize)]
/// struct Converted {
///     amount: f64,
/// }
///
/// async fn convert(params: Convert, cx: Context<f64>) -> Result<Converted, HandlerError> {
///     Ok(Converted { amount: params.amount * cx.state() })
/// }
///
/// let currency = Extension::new("com.example/currency")
///     .settings(Settings { formats: ["short", "long"] })
///     .requires_client()
///     .method("currency/convert", convert);
///
/// let server = Server::builder("demo", "1.0")
///     .with_state(1.25)
///     .extension(currency)
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
#[must_use = "it must be registered to be served"]
pub struct Extension<S = ()> {
    pub(in crate::server) name: String,
    /// `None` if they are no JSON object.
    pub(in crate::server) settings: Option<RawBuf>,
    pub(in crate::server) revisions: RevisionSet,
    pub(in crate::server) required: bool,
    pub(in crate::server) needs: ServerFeatures,
    pub(in crate::server) methods: Vec<ExtensionMethod<S>>,
    pub(in crate::server) notifications: Vec<ExtensionNotification<S>>,
    pub(in crate::server) sends: Vec<String>,
    pub(in crate::server) filters: Vec<ExtensionFilter<S>>,
    pub(in crate::server) layers: Vec<Wrap>,
    pub(in crate::server) background: Option<Arc<dyn Background>>,
    pub(in crate::server) items: Vec<Item<S>>,
    pub(in crate::server) list_changed: Vec<ListKind>,
    pub(in crate::server) mistakes: Vec<RegisterError>,
}

impl<S: Send + Sync + 'static> Extension<S> {
    /// An extension of this name, without settings, in the [revisions](Self::revisions) since 2026-07-28.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: RawBuf::parse("{}").ok(),
            revisions: RevisionSet::at_least(Revision::V2026_07_28),
            required: false,
            needs: ServerFeatures::NONE,
            methods: Vec::new(),
            notifications: Vec::new(),
            sends: Vec::new(),
            filters: Vec::new(),
            layers: Vec::new(),
            background: None,
            items: Vec::new(),
            list_changed: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// Sets what the server declares of it: an object. The default is the empty object.
    pub fn settings(mut self, settings: impl Serialize) -> Self {
        let settings = RawBuf::encode(&settings).ok();
        self.settings = settings.filter(|settings| settings.as_raw().object().is_some());
        self
    }

    /// Sets the revisions in which the server declares it, has its methods and sends its notifications.
    /// In others the extension is off: [`notify`](super::CallContext::notify) fails with
    /// [`SendError::NotInRevision`](crate::SendError::NotInRevision), and no client counts as one that
    /// declares it. Its items and its layers are served in every revision. A legacy revision
    /// carries the declaration in the result of `initialize`, where its schema has no such member
    /// but clients tolerate it.
    ///
    /// ```
    /// use mcp_async::server::Extension;
    /// use mcp_async::{Revision, RevisionSet};
    ///
    /// let jobs: Extension = Extension::new("com.example/jobs")
    ///     .revisions(RevisionSet::at_least(Revision::V2025_11_25));
    /// # let _ = jobs;
    /// ```
    pub fn revisions(mut self, revisions: RevisionSet) -> Self {
        self.revisions = revisions;
        self
    }

    /// Serves its methods only to clients that declare the extension, in 2026-07-28 on the very
    /// request. Others are refused with -32021, which names the extension, and over HTTP
    /// with status 400.
    pub fn requires_client(mut self) -> Self {
        self.required = true;
        self
    }

    /// Names capabilities that the server must declare for it, for instance because its results
    /// refer to resources. Without them the server is not built.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Extension;
    /// use mcp_async::model::ServerFeatures;
    ///
    /// let albums = Extension::new("com.example/albums").needs(ServerFeatures::RESOURCES);
    /// let error = Server::builder("demo", "1.0").extension(albums).build().unwrap_err();
    /// assert_eq!(
    ///     error.mistakes()[0].to_string(),
    ///     "extension `com.example/albums`: the server does not declare {RESOURCES}"
    /// );
    /// ```
    pub fn needs(mut self, capabilities: ServerFeatures) -> Self {
        self.needs = self.needs.with(capabilities);
        self
    }

    /// Adds a method with typed parameters and a typed result: see
    /// [`ExtensionMethod::handler`].
    pub fn method<A, T, F, Fut>(self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
    {
        self.with_method(ExtensionMethod::new(name).handler(handler))
    }

    /// Adds a method whose handler receives the parameters as they came.
    pub fn raw_method<T, F, Fut>(self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: Payload + Send + 'static,
    {
        self.with_method(ExtensionMethod::new(name).raw(handler))
    }

    /// Adds a method with settings of its own.
    pub fn with_method(mut self, method: ExtensionMethod<S>) -> Self {
        self.methods.push(method);
        self
    }

    /// Takes notifications of this name from clients. The handler is called at once and in the
    /// order of arrival, and must not block; what takes longer belongs in a task. A notification
    /// whose parameters do not decode is dropped, as nothing answers it.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use mcp_async::Server;
    /// use mcp_async::server::{Extension, NotificationContext};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Seen {
    ///     count: u32,
    /// }
    ///
    /// let reading = Extension::new("com.example/reading").notification(
    ///     "notifications/example/seen",
    ///     |seen: Seen, cx: NotificationContext<AtomicU32>| {
    ///         cx.state().fetch_add(seen.count, Ordering::Relaxed);
    ///     },
    /// );
    /// let server = Server::builder("demo", "1.0")
    ///     .with_state(AtomicU32::new(0))
    ///     .extension(reading);
    /// # let _ = server;
    /// ```
    pub fn notification<A, F>(mut self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(A, NotificationContext<S>) + Send + Sync + 'static,
        A: DeserializeOwned + 'static,
    {
        let notification = ExtensionNotification::new(name.into(), handler);
        self.notifications.push(notification);
        self
    }

    /// Names a notification that the server sends for the extension: for a request by
    /// [`CallContext::notify`](super::CallContext::notify), for a subscription by
    /// [`Subscriber::notify`](super::Subscriber::notify), in a legacy session by
    /// [`Peer::notify`](super::Peer::notify).
    pub fn sends(mut self, name: impl Into<String>) -> Self {
        self.sends.push(name.into());
        self
    }

    /// Adds a key to the filter of `subscriptions/listen`, which exists since 2026-07-28.
    /// For each subscription that has the key, the judge receives its value and the subscription,
    /// and returns the value that the server accepts, which may be less, or `None` for nothing. An
    /// error refuses the subscription as a whole, and so does a value of another type. Until all
    /// keys are judged, nothing is written of the subscription.
    ///
    /// The future that the judge gives to [`Subscriber::run`] sends the notifications, or the
    /// application keeps the [`Subscriber`] for as long as it is [open](Subscriber::is_closed).
    ///
    /// ```
    /// use mcp_async::server::{Extension, HandlerError, Subscriber};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Price<'a> {
    ///     symbol: &'a str,
    ///     price: f64,
    /// }
    ///
    /// async fn judge(
    ///     mut symbols: Vec<String>,
    ///     subscriber: Subscriber,
    /// ) -> Result<Option<Vec<String>>, HandlerError> {
    ///     if subscriber.principal().is_none() {
    ///         return Err(HandlerError::invalid_params("prices are for users"));
    ///     }
    ///     symbols.retain(|symbol| symbol.len() == 4);
    ///     let (accepted, source) = (symbols.clone(), subscriber.clone());
    ///     subscriber.run(async move {
    ///         for symbol in &symbols {
    ///             let price = Price { symbol, price: 1.0 };
    ///             // It fails when the subscription has ended, which ends this as well.
    ///             let _ = source.notify("notifications/prices/changed", &price).await;
    ///         }
    ///     });
    ///     Ok((!accepted.is_empty()).then_some(accepted))
    /// }
    ///
    /// let prices = Extension::new("com.example/prices")
    ///     .sends("notifications/prices/changed")
    ///     .filter("prices", judge);
    /// # let _ = mcp_async::Server::builder("demo", "1.0").extension(prices);
    /// ```
    pub fn filter<V, T, F, Fut>(mut self, key: impl Into<String>, judge: F) -> Self
    where
        F: Fn(V, Subscriber<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<T>, HandlerError>> + Send + 'static,
        V: DeserializeOwned + 'static,
        T: Serialize + 'static,
    {
        self.filters.push(ExtensionFilter::new(key.into(), judge));
        self
    }

    /// Wraps what serves each connection, as
    /// [`ServerBuilder::layer`](super::ServerBuilder::layer) does at the place where the extension
    /// is registered. The layer sees every call; it finds the settings of the client in
    /// [`CallContext::client_extension`](super::CallContext::client_extension), and the data of a
    /// tool that is called in [`Call::tool_data`](super::Call::tool_data).
    ///
    /// ```
    /// use mcp_async::ErrorReply;
    /// use mcp_async::server::layers::around;
    /// use mcp_async::server::{Extension, Tool};
    ///
    /// /// What a call of a tool costs.
    /// struct Price(u32);
    ///
    /// let prices = Extension::new("com.example/prices").layer(around(|call, service| {
    ///     match call.tool_data::<Price>() {
    ///         Some(price) if price.0 > 100 => call.refuse(ErrorReply::new(-1, "too expensive")),
    ///         _ => service.call(call),
    ///     }
    /// }));
    /// let tool = Tool::new("render")
    ///     .extension_data(Price(250))
    ///     .handler(|(): (), _| async { Ok("done") });
    /// let server = mcp_async::Server::builder("demo", "1.0").with(tool).extension(prices);
    /// # let _ = server;
    /// ```
    pub fn layer(mut self, layer: impl ServerLayer) -> Self {
        self.layers.push(Arc::new(move |service| {
            Box::new(layer.layer(service)) as BoxService
        }));
        self
    }

    /// Sets what it does apart from connections, which ends with the server.
    pub fn background(mut self, work: Arc<dyn Background>) -> Self {
        self.background = Some(work);
        self
    }

    /// Adds a tool, resource, template or prompt that the server lists with its own, as
    /// [`ServerBuilder::with`](super::ServerBuilder::with) does: in every revision, and to clients that do not declare the extension.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::{Extension, Resource};
    ///
    /// let catalog = Resource::new("albums://all", "albums").handler(|_| async { Ok("none") });
    /// let albums = Extension::new("com.example/albums").with(catalog);
    /// # assert!(Server::builder("demo", "1.0").extension(albums).build().is_ok());
    /// ```
    pub fn with(mut self, item: impl Into<Item<S>>) -> Self {
        self.items.push(item.into());
        self
    }

    /// Declares `listChanged` for this kind, even while no item of it is registered.
    pub fn list_changed(mut self, kind: ListKind) -> Self {
        self.list_changed.push(kind);
        self
    }

    /// Adds a mistake in a setting from which the extension was made. It is reported when the server is built, with
    /// all others.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Extension;
    ///
    /// /// The settings of an extension that a library offers.
    /// struct Albums {
    ///     page_size: usize,
    /// }
    ///
    /// impl<S: Send + Sync + 'static> From<Albums> for Extension<S> {
    ///     fn from(albums: Albums) -> Self {
    ///         let extension = Extension::new("com.example/albums");
    ///         match albums.page_size {
    ///             0 => extension.mistake("page_size", "it is zero"),
    ///             _ => extension,
    ///         }
    ///     }
    /// }
    ///
    /// let server = Server::builder("demo", "1.0").extension(Albums { page_size: 0 });
    /// let error = server.build().unwrap_err();
    /// let text = "extension `com.example/albums`: `page_size`: it is zero";
    /// assert_eq!(error.mistakes()[0].to_string(), text);
    /// ```
    pub fn mistake(mut self, setting: &str, reason: impl fmt::Display) -> Self {
        let reason = format!("`{setting}`: {reason}");
        self.mistakes
            .push(RegisterError::new("extension", &self.name, &reason));
        self
    }
}

impl<S> fmt::Debug for Extension<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension")
            .field("name", &self.name)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}
