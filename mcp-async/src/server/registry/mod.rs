//! Changes and ends a running server.

pub(super) mod announcement;
pub(super) mod declare;
pub(super) mod inner;
mod portions;
pub(super) mod principal_peers;
pub(super) mod settings;
pub(super) mod view;

use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Weak};

use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;

use self::inner::Inner;
use self::principal_peers::PrincipalPeers;
use super::Peer;
use crate::server::call::handler_context::Context;
use crate::server::items::item::Item;
use crate::server::items::register_error::RegisterError;
use crate::server::items::resource::CacheHint;

/// A handle that changes what a running [`Server`](crate::Server) offers, reports changes to its
/// clients, and ends it.
///
/// A server whose lists change, or whose resources can be subscribed to, declares that by
/// [`change_notifications`](super::ServerBuilder::change_notifications) or [`list_changed`](super::ServerBuilder::list_changed);
/// clients of other servers receive no notifications. The handle comes from
/// [`Server::registry`](crate::Server::registry), and in a handler from
/// [`Context::registry`](super::Context::registry). It does not keep the server alive: when the
/// server is gone, [`add`](Self::add) fails and the other methods do nothing.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Tool;
///
/// let server = Server::builder("demo", "1.0")
///     .change_notifications()
///     .tool("grow", "Adds a tool", |(): (), cx| async move {
///         let more = Tool::new("more").handler(|(): (), _| async { Ok("more") });
///         cx.registry().add(more)?;
///         Ok("grown")
///     })
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
///
/// `S` is the state of the server, which the handlers of added items reach as those of others do:
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::{Context, Registry, Tool};
///
/// /// Adds a tool for a city.
/// fn add(registry: &Registry<Vec<u32>>, city: &'static str) {
///     let tool = Tool::new(city).handler(|(): (), cx: Context<Vec<u32>>| async move {
///         Ok(format!("{} degrees", cx.state()[0]))
///     });
///     let _ = registry.add(tool);
/// }
///
/// let server = Server::builder("weather", "1.0").with_state(vec![21]).change_notifications().build()?;
/// add(&server.registry(), "kyoto");
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
///
/// More than 32 clients are notified of a change in a task of the runtime, 32 at a time, so a call returns before all of
/// them are. Outside of the runtime all are notified before it returns.
pub struct Registry<S = ()> {
    inner: Weak<Inner>,
    /// The server keeps it. A state can contain the registry of its server.
    state: Weak<S>,
}

impl<S> Context<S> {
    /// Returns the handle that changes what the server offers, and reports changes to its clients.
    /// Items that it adds have the state of this handler.
    pub fn registry(&self) -> Registry<S> {
        let server = self.server.as_ref().and_then(Weak::upgrade);
        let inner = server.and_then(|server| server.downcast().ok());
        Registry {
            inner: inner.map_or_else(Weak::new, |inner| Arc::downgrade(&inner)),
            state: Arc::downgrade(&self.state),
        }
    }
}

impl<S> Registry<S> {
    pub(super) fn new(inner: &Arc<Inner>, state: &Arc<S>) -> Self {
        Self {
            inner: Arc::downgrade(inner),
            state: Arc::downgrade(state),
        }
    }

    /// Registers a tool, a resource, a template or a prompt, in place of one with the same key.
    ///
    /// # Errors
    /// The item cannot be served, as in [`BuildError`](super::BuildError); or the server is gone:
    /// every [`Server`](crate::Server), service and connection of it was dropped.
    pub fn add(&self, item: impl Into<Item<S>>) -> Result<(), RegisterError>
    where
        S: Send + Sync + 'static,
    {
        self.register(item.into(), Inner::add)
    }

    /// Sets the time for which clients of 2026-07-28 may cache a list, and whether others may share it, in place of that of the
    /// [server](super::ServerBuilder::cache). A list that is not the same for all callers is private in any case.
    pub fn cache_list(&self, list: ListKind, ttl: Duration, scope: CacheScope) {
        self.with(|inner| {
            inner.cache_list(list, CacheHint::new(ttl, scope));
            true
        });
    }

    /// Registers an item as [`add`](Self::add) does, unless there is one with the same key: for items that come from elsewhere, and
    /// must not take the place of the program's own.
    ///
    /// # Errors
    /// There is an item with the same key, and those of `add`.
    pub fn add_new(&self, item: impl Into<Item<S>>) -> Result<(), RegisterError>
    where
        S: Send + Sync + 'static,
    {
        self.register(item.into(), Inner::add_new)
    }

    fn register(
        &self,
        item: Item<S>,
        add: fn(&Inner, Item) -> Result<(), RegisterError>,
    ) -> Result<(), RegisterError>
    where
        S: Send + Sync + 'static,
    {
        let (Some(inner), Some(state)) = (self.inner.upgrade(), self.state.upgrade()) else {
            return Err(item.error(&"the server is gone"));
        };
        add(&inner, item.bind(&state))
    }

    /// Takes a tool away; whether there was one. Running calls continue.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.with(|inner| inner.remove(|catalog| catalog.tools.remove(name)))
    }

    /// Takes a resource away by its URI; whether there was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.with(|inner| inner.remove(|catalog| catalog.resources.remove(uri)))
    }

    /// Takes a template away; whether there was one.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.with(|inner| inner.remove(|catalog| catalog.templates.remove(uri_template)))
    }

    /// Takes a prompt away; whether there was one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.with(|inner| inner.remove(|catalog| catalog.prompts.remove(name)))
    }

    /// Notifies the clients that have subscribed to this resource, apart from those
    /// that it is [hidden](super::Resource::visible_to) from. Changes that concern one user only
    /// are reported by [`for_principal`](Self::for_principal).
    pub fn resource_updated(&self, uri: &str) {
        self.with(|inner| {
            inner.resource_updated(uri, None);
            true
        });
    }

    /// Returns the clients of the principal with this name, to report changes to them alone.
    pub fn for_principal(&self, name: &str) -> PrincipalPeers {
        PrincipalPeers::new(self.inner.clone(), name.into())
    }

    /// Notifies the listening clients that a list has changed. Adding and removing tell
    /// it by themselves; this is for lists that change for another reason.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::ListKind;
    ///
    /// let server = Server::builder("demo", "1.0").change_notifications().build()?;
    /// server.registry().list_changed(ListKind::Resources);
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    pub fn list_changed(&self, kind: ListKind) {
        self.with(|inner| {
            inner.list_changed(kind, None);
            true
        });
    }

    /// The clients that are connected now.
    pub fn peers(&self) -> Vec<Peer> {
        let inner = self.inner.upgrade();
        inner.map(|inner| inner.peers()).unwrap_or_default()
    }

    /// Ends the server in good order: every connection reads no more, answers what it has read,
    /// and closes; a connection that begins later does so at once. Handlers have the
    /// [shutdown timeout](super::ServerBuilder::shutdown_timeout) to finish; then their calls are
    /// answered with error -32603. [Tasks](crate::tasks) have the same time, and fail then.
    pub fn shutdown(&self) {
        self.with(|inner| {
            inner.shutdown();
            true
        });
    }

    fn with(&self, act: impl FnOnce(&Inner) -> bool) -> bool {
        self.inner.upgrade().is_some_and(|inner| act(&inner))
    }
}

impl<S> Clone for Registry<S> {
    fn clone(&self) -> Self {
        Self {
            inner: Weak::clone(&self.inner),
            state: Weak::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for Registry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
