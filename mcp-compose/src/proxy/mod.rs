//! A server whose items are those of other servers.

mod asker;
mod bridge;
mod capabilities;
mod forward;
mod front;
mod held;
mod items;
mod keeping;
mod limits;
mod links;
mod path;
mod places;
mod replies;
mod running;
mod sessions;
mod steps;
mod task_id;
mod tasks;
mod upstream;
mod watched;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use mcp_async::Server;
use mcp_async::runtime::{BoxFuture, RuntimeHandle, within};
use mcp_async::server::{
    BuildError, HandlerError, ListKind, Principal, RegisterError, ServerBuilder,
};

pub use self::asker::ProxyCaller;
pub use self::limits::ProxyLimits;
pub use self::upstream::UpstreamState;

use self::items::Registered;
use self::keeping::keep;
use self::running::{Running, Settings};
use self::task_id::TaskKey;
use self::upstream::Upstream;
use self::watched::Watched;
use crate::catalog::{Catalog, CatalogLimits};
use crate::entry::ServerEntry;
use crate::instructions;
use crate::naming::Naming;
use crate::waiting::{sleep, until};

/// Servers whose items a server of this process offers as its own, in every revision and over every transport.
///
/// A proxy is a client of its servers and a server for its callers: ids, progress tokens, versions and the names of both sides are made
/// anew, and results pass as they came. A legacy server is called by callers of 2026-07-28, and the other way round: where one
/// side asks within a call and the other ends the call with its questions, the call is held until its caller comes back.
///
/// - A server may ask only for what the caller declares. Where a session with a legacy server could ask, it belongs to one
///   caller: to a legacy session, or to one call at a time of a caller of 2026-07-28. All other sessions are shared.
/// - Callers never reach a server with the tokens that they send here. What an [entry](ServerEntry) sets is the proxy's own, the same for
///   all callers; [`caller_entry`](ProxyBuilder::caller_entry) gives each what is its own there.
/// - A server that is not reached does not hold up the others. It is connected again, and meanwhile its items fail.
/// - Tasks of servers are offered if the builder of the server in front has [tasks](mcp_async::server::ServerBuilder::tasks): those of a
///   server of 2026-07-28 under ids that belong to the caller, those of a legacy server as tasks of the server in front. A caller with
///   tasks receives no log messages of a server of 2026-07-28 with tasks.
/// - Of proxies in a circle, none offers the items that passed it before.
///
/// Clones are the same proxy, which runs as long as one of them, or a server that it made, does.
///
/// ```
/// use mcp_async::process::Command;
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::server::stdio;
/// use mcp_async::Server;
/// use mcp_compose::{Proxy, ServerEntry};
///
/// async fn serve(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
///     let proxy = Proxy::builder()
///         .entry(ServerEntry::program("git", Command::new("mcp-server-git")))
///         .entry(ServerEntry::url("docs", "https://example.com/mcp"))
///         .start(runtime.clone())
///         .await;
///     proxy.server(Server::builder("desk", "1.0"))?.serve(stdio(runtime)).await?;
///     Ok(())
/// }
/// # let _ = serve;
/// ```
#[derive(Clone)]
pub struct Proxy {
    running: Arc<Running>,
}

/// The servers of a [`Proxy`], and its settings.
#[must_use = "a proxy runs when it is started"]
pub struct ProxyBuilder {
    entries: Vec<ServerEntry>,
    settings: Settings,
}

impl ProxyBuilder {
    /// Adds a server. Of several entries of one name, and of those that are disabled, the proxy takes none but the last that is enabled.
    pub fn entry(mut self, entry: ServerEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Adds servers.
    pub fn entries(mut self, entries: impl IntoIterator<Item = ServerEntry>) -> Self {
        self.entries.extend(entries);
        self
    }

    /// Sets the rule for the names of tools and prompts; the name of the server is their prefix otherwise. With one server,
    /// [`Naming::bare`] leaves them as they are.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.settings.naming = naming;
        self
    }

    /// Sets the bounds of what servers can list.
    pub fn catalog_limits(mut self, limits: CatalogLimits) -> Self {
        self.settings.catalog = limits;
        self
    }

    /// Sets the bounds of what callers can make the proxy hold.
    pub fn limits(mut self, limits: ProxyLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets whether the items of a server that is not reached stay listed; true by default.
    pub fn keep_items(mut self, keep: bool) -> Self {
        self.settings.keeps_items = keep;
        self
    }

    /// Sets whether a server that has had no call for [`ProxyLimits::idle`] and has no task is left alone until the next call,
    /// which connects it again; false by default. Meanwhile its items stay listed as they were, and changes of its lists are not seen.
    pub fn end_idle_servers(mut self, end: bool) -> Self {
        self.settings.rests = end;
        self
    }

    /// Offers those items only for which the rule returns true. Its arguments are the name of the server, and the name or URI of the
    /// item there.
    pub fn expose(mut self, rule: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.settings.exposes = Some(Box::new(rule));
        self
    }

    /// Shows items to those callers only for which the rule returns true: of the name of the server, the name or URI of the item
    /// there, and the verified caller, if there is one. It must be quick.
    pub fn visible_to(
        mut self,
        rule: impl Fn(&str, &str, Option<&Principal>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.shows = Some(Arc::new(rule));
        self
    }

    /// Reaches a server by an entry for each caller: with headers, an authorization or variables that are this caller's own. Its
    /// sessions are for this caller alone, and callers without a principal are refused. The rule is asked when a session is opened, and again after the server has refused
    /// the credentials. It can
    /// ask the caller in turn, to log in at a page of the program for example, and what it refuses is the answer to the caller.
    ///
    /// The lists are read by the [entry](Self::entry) of the proxy, and are the same for all callers.
    ///
    /// ```
    /// use mcp_async::server::HandlerError;
    /// use mcp_compose::{Proxy, ProxyCaller, ServerEntry};
    ///
    /// /// The token that this user has at the server.
    /// async fn token_of(user: &str) -> Option<String> {
    /// #   let _ = user;
    ///     // ..
    /// #   None
    /// }
    ///
    /// async fn issues(caller: ProxyCaller) -> Result<ServerEntry, HandlerError> {
    ///     let user = caller.principal.name();
    ///     if token_of(user).await.is_none()
    ///         && let Some(call) = &caller.call
    ///     {
    ///         // The page accepts this user only.
    ///         let page = "https://gateway.example.com/login/issues";
    ///         call.elicit_url("login", "Log in at the tracker of issues", page).await?;
    ///     }
    ///     let token = token_of(user).await;
    ///     let token = token.ok_or_else(|| HandlerError::visible("log in at the tracker of issues first"))?;
    ///     let entry = ServerEntry::url("issues", "https://issues.example.com/mcp");
    ///     Ok(entry.header("Authorization", format!("Bearer {token}")))
    /// }
    ///
    /// let lists = ServerEntry::url("issues", "https://issues.example.com/mcp").header("Authorization", "Bearer of-the-proxy");
    /// let proxy = Proxy::builder().entry(lists).caller_entry("issues", issues);
    /// # let _ = proxy;
    /// ```
    pub fn caller_entry<F, Fut>(mut self, server: &str, rule: F) -> Self
    where
        F: Fn(ProxyCaller) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ServerEntry, HandlerError>> + Send + 'static,
    {
        let rule = move |caller: ProxyCaller| -> BoxFuture<'static, _> { Box::pin(rule(caller)) };
        let entries = &mut self.settings.caller_entries;
        entries.insert(server.to_owned(), Arc::new(rule));
        self
    }

    /// Seals the ids of tasks of servers with this key; with a random one of this process otherwise. Processes that share a key, and one
    /// that is started again with it, know each other's tasks.
    pub fn task_key(mut self, key: [u8; 32]) -> Self {
        self.settings.task_key = Some(TaskKey::new(key));
        self
    }

    /// Starts the proxy: connects all servers at once, and waits until the lists of each were read or its first attempt has
    /// failed. A server that failed is tried again after a second, and then after longer pauses.
    pub async fn start(self, runtime: impl Into<RuntimeHandle>) -> Proxy {
        let runtime = runtime.into();
        let running = Running::new(runtime, self.settings);
        let proxy = Proxy { running };
        for entry in self.entries {
            proxy.begin(entry);
        }
        for upstream in proxy.running.upstreams.read(Clone::clone) {
            upstream.settled().await;
        }
        proxy
            .running
            .runtime
            .spawn(Box::pin(end_idle(Arc::downgrade(&proxy.running))));
        proxy
    }
}

impl Proxy {
    /// Begins a proxy without servers.
    pub fn builder() -> ProxyBuilder {
        ProxyBuilder {
            entries: Vec::new(),
            settings: Settings {
                naming: Naming::default(),
                catalog: CatalogLimits::default(),
                limits: ProxyLimits::default(),
                keeps_items: true,
                rests: false,
                exposes: None,
                shows: None,
                caller_entries: HashMap::new(),
                task_key: None,
            },
        }
    }

    /// Builds a server with the items of the proxy's servers, beside those that the builder has. What changes in their lists later
    /// changes in its own. Their [instructions](Self::instructions) stand behind those of the builder, as they are now.
    ///
    /// # Errors
    /// Those of [`ServerBuilder::build`]. An item of a server that cannot be served, or that the builder has already, is not: see
    /// [`left_out`](Self::left_out).
    pub fn server<S: Send + Sync + 'static>(
        &self,
        builder: ServerBuilder<S>,
    ) -> Result<Server<S>, BuildError> {
        let builder = [ListKind::Tools, ListKind::Prompts, ListKind::Resources]
            .into_iter()
            .fold(builder, ServerBuilder::list_changed);
        let builder = match self.instructions() {
            none if none.is_empty() => builder,
            some => builder.add_instructions(&some),
        };
        let watched = Watched::new(&self.running);
        let served = watched.served();
        let server = builder
            .change_notifications()
            .logging()
            .layer(watched)
            .build()?;
        let registry = server.registry();
        let front = Arc::new(registry.clone());
        self.running.add_front(Weak::clone(&served), front);
        let mut changes = self.running.catalog.changes();
        let mut registered = Registered::default();
        self.running
            .note_left_out(registered.update(&registry, &self.running));
        let (running, runtime) = (Arc::downgrade(&self.running), self.running.runtime.clone());
        let ended = Arc::clone(&self.running.ended);
        self.running.runtime.spawn(Box::pin(async move {
            let following = async {
                loop {
                    let changed = within(&runtime, CHECK_INTERVAL, changes.next()).await;
                    let running = running.upgrade();
                    let Some(running) = running.filter(|_| served.strong_count() > 0) else {
                        return;
                    };
                    if changed.is_some() {
                        running.note_left_out(registered.update(&registry, &running));
                    }
                }
            };
            until(ended.find(|ended| ended.then_some(())), following).await;
        }));
        Ok(server)
    }

    /// Returns the instructions of the servers that are connected, for a model to read: labelled and bounded as those of
    /// [`Host::instructions`](crate::Host::instructions). The text of a single server whose items keep their names has no label.
    pub fn instructions(&self) -> String {
        let upstreams = self.running.upstreams.read(Clone::clone);
        let of = |one: &Arc<Upstream>| {
            let text = one.client()?.info().instructions.clone()?;
            Some((Arc::clone(&one.name), text))
        };
        let all: Vec<_> = upstreams.iter().filter_map(of).collect();
        match all.as_slice() {
            [(_, text)] if upstreams.len() == 1 && self.running.is_bare => {
                instructions::of_one(text).to_owned()
            }
            all => instructions::join(all.iter().map(|(server, text)| (&**server, &**text))),
        }
    }

    /// Adds a server, in place of one of the same name.
    pub async fn add(&self, entry: ServerEntry) {
        self.remove(entry.name());
        if let Some(upstream) = self.begin(entry) {
            upstream.settled().await;
        }
    }

    /// Removes a server and its items; whether there was one. Its running calls fail.
    pub fn remove(&self, server: &str) -> bool {
        let removed = self.running.upstreams.change(|all| {
            let at = all.iter().position(|one| *one.name == *server);
            at.map(|at| all.remove(at))
        });
        let Some(removed) = removed else { return false };
        removed.remove(&self.running.runtime);
        self.running.catalog.remove(server);
        true
    }

    fn begin(&self, entry: ServerEntry) -> Option<Arc<Upstream>> {
        if entry.is_disabled() || self.running.has_ended() {
            return None;
        }
        let (runtime, catalog) = (&self.running.runtime, &self.running.catalog);
        let of_callers = self.running.caller_entries.get(entry.name()).cloned();
        let upstream = Upstream::new(entry, of_callers);
        // In one step, so that of two threads that add one name, one takes the place of the other.
        let before = self.running.upstreams.change(|all| {
            let before = all.extract_if(.., |one| one.name == upstream.name);
            let before: Vec<_> = before.collect();
            all.push(Arc::clone(&upstream));
            before
        });
        for before in before {
            before.remove(runtime);
            catalog.remove(&upstream.name);
        }
        if self.running.has_ended() {
            self.remove(&upstream.name);
            return None;
        }
        catalog.declare(&upstream.name);
        let (running, kept) = (Arc::downgrade(&self.running), Arc::clone(&upstream));
        runtime.spawn(Box::pin(async move {
            keep(Weak::clone(&running), Arc::clone(&kept)).await;
            // Another thread may have read a list while the server was removed.
            if let Some(running) = running.upgrade()
                && running.upstream(&kept.name).is_none()
            {
                running.catalog.remove(&kept.name);
            }
        }));
        Some(upstream)
    }

    /// Returns the servers by their names, and whether they are connected.
    pub fn states(&self) -> Vec<(Arc<str>, UpstreamState)> {
        let upstreams = self.running.upstreams.read(Clone::clone);
        upstreams
            .iter()
            .map(|one| (Arc::clone(&one.name), one.state()))
            .collect()
    }

    /// Returns the merged lists of the servers.
    pub fn catalog(&self) -> &Catalog {
        &self.running.catalog
    }

    /// Returns the errors of the items that the last change could not register: of names or headers that no server may have.
    pub fn left_out(&self) -> Vec<RegisterError> {
        self.running.left_out.read(Clone::clone)
    }

    /// Returns the number of sessions with servers, and of calls that wait for answers of their callers.
    pub fn in_use(&self) -> (usize, usize) {
        (self.running.places.open(), self.running.held.len())
    }

    /// Ends the sessions with all servers, for ever, and waits for the ends of programs.
    pub async fn close(&self) {
        let upstreams = self.running.upstreams.read(Clone::clone);
        let sessions: Vec<_> = upstreams
            .iter()
            .flat_map(|upstream| upstream.sessions())
            .collect();
        self.running.end();
        for session in sessions {
            // How it ended is of no interest any more.
            let _ = session.client.close().await;
        }
    }
}

/// Ends sessions that have had no call for long, now and then.
async fn end_idle(running: Weak<Running>) {
    loop {
        let Some(proxy) = running.upgrade() else {
            return;
        };
        proxy.end_idle();
        let (runtime, pause) = (proxy.runtime.clone(), (proxy.limits.idle / 2).max(SHORTEST));
        let ended = Arc::clone(&proxy.ended);
        drop(proxy);
        if until(
            ended.find(|ended| ended.then_some(())),
            sleep(&runtime, pause),
        )
        .await
        .is_none()
        {
            return;
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("states", &self.states())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ProxyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyBuilder")
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// The shortest pause between two looks for idle sessions.
const SHORTEST: Duration = Duration::from_millis(100);
/// The time after which a server in front is checked again: if it is still served.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
