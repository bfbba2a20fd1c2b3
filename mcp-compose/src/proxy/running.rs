//! The state of a proxy that runs: its servers, and the sessions with them.

use core::hash::{BuildHasher, Hasher};
use std::collections::hash_map::RandomState;
use std::sync::Arc;

use mcp_async::client::ClientBuilder;
use mcp_async::model::{ClientFeatures, Meta};
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{CallContext, HandlerError, Principal, RegisterError};
use mcp_async::tasks::client::TaskOptions;
use mcp_async::{Client, ErrorReply};

use super::ProxyLimits;
use super::bridge::{Bridge, Caller, declare};
use super::capabilities::relayed;
use super::held::{HeldCalls, RunningCall};
use super::path::onward;
use super::places::Places;
use super::replies::{not_opened, unreachable};
use super::sessions::{Lease, Leases, OpenError, Session, Sessions};
use super::task_id::TaskKey;
use super::upstream::Upstream;
use crate::catalog::{Catalog, CatalogLimits};
use crate::naming::Naming;
use crate::watch::Watch;

/// A proxy that runs.
pub(super) struct Running {
    /// A number that tells proxies apart: random, in digits.
    pub(super) process: String,
    pub(super) runtime: RuntimeHandle,
    pub(super) catalog: Catalog,
    pub(super) upstreams: Watch<Vec<Arc<Upstream>>>,
    pub(super) held: Arc<HeldCalls>,
    pub(super) limits: ProxyLimits,
    pub(super) keeps_items: bool,
    /// Names are as servers gave them.
    pub(super) is_bare: bool,
    pub(super) shows: Option<Arc<Shows>>,
    pub(super) configure: Option<Box<Configure>>,
    pub(super) places: Arc<Places>,
    /// `None` without randomness: then there are no tasks.
    pub(super) tasks: Option<TaskKey>,
    /// Sessions with servers of 2026-07-28, by what they declare. They stay, because tasks are made in them.
    modern: Sessions,
    leases: Arc<Leases>,
    /// One for each server in front.
    pub(super) updated: Watch<Vec<Arc<Reports>>>,
    /// Items that could not be registered.
    pub(super) left_out: Watch<Vec<RegisterError>>,
    /// True once the proxy is over.
    pub(super) ended: Arc<Watch<bool>>,
}

/// Decides which items of a server are offered: of the server, and of the name or URI that the item has there.
pub(super) type Exposes = dyn Fn(&str, &str) -> bool + Send + Sync;
/// Decides which callers see an item.
pub(super) type Shows = dyn Fn(&str, &str, Option<&Principal>) -> bool + Send + Sync;
/// Reports an updated resource to the callers of a server, and returns whether any of them watches it.
pub(super) type Reports = dyn Fn(&str) -> bool + Send + Sync;
/// Adds settings to the client of a server.
pub(super) type Configure = dyn Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync;

/// The sessions of one legacy caller, which end with its own.
#[derive(Default)]
struct CallerSessions(Sessions);

/// The settings of a proxy.
pub(super) struct Settings {
    pub(super) limits: ProxyLimits,
    pub(super) keeps_items: bool,
    pub(super) naming: Naming,
    pub(super) catalog: CatalogLimits,
    pub(super) exposes: Option<Box<Exposes>>,
    pub(super) shows: Option<Arc<Shows>>,
    pub(super) configure: Option<Box<Configure>>,
    pub(super) task_key: Option<TaskKey>,
}

impl Running {
    pub(super) fn new(runtime: RuntimeHandle, settings: Settings) -> Arc<Self> {
        let Settings {
            limits,
            keeps_items,
            naming,
            catalog,
            exposes,
            shows,
            configure,
            task_key,
        } = settings;
        let process = format!("{:016x}", RandomState::new().build_hasher().finish());
        let own = process.clone();
        let accepts = move |server: &str, name: &str, meta: &Meta| {
            let is_exposed = exposes.as_ref().is_none_or(|exposes| exposes(server, name));
            is_exposed && onward(&own, meta).is_some()
        };
        let is_bare = naming.is_bare();
        let catalog = Catalog::accepting(runtime.clone(), naming, catalog, Box::new(accepts));
        Arc::new(Self {
            process,
            runtime,
            catalog,
            upstreams: Watch::default(),
            held: Arc::default(),
            places: Places::new(limits.clone()),
            tasks: task_key.or_else(TaskKey::random),
            limits,
            keeps_items,
            is_bare,
            shows,
            configure,
            modern: Sessions::default(),
            leases: Arc::default(),
            updated: Watch::default(),
            left_out: Watch::default(),
            ended: Arc::default(),
        })
    }

    /// Returns the server of this name.
    pub(super) fn upstream(&self, server: &str) -> Option<Arc<Upstream>> {
        self.upstreams
            .read(|all| all.iter().find(|one| *one.name == *server).cloned())
    }

    /// Returns the session for a request of this caller.
    ///
    /// A session in which the server may ask, or log, belongs to one caller: to a legacy session, or for the time of a call to a
    /// caller of 2026-07-28. A server of 2026-07-28 asks within requests, so that its sessions are shared.
    pub(super) async fn session_for(
        &self,
        server: &Arc<str>,
        cx: &CallContext,
    ) -> Result<Lease, HandlerError> {
        let upstream = self
            .upstream(server)
            .ok_or_else(|| HandlerError::reply(unreachable(server)))?;
        let main = match upstream.main_now() {
            Some(main) => main,
            None => {
                let main = Box::pin(upstream.main()).await;
                main.ok_or_else(|| HandlerError::reply(unreachable(server)))?
            }
        };
        let features = relayed(cx.client());
        let is_logged = main.logs(cx);
        if is_logged || (main.revision.is_legacy() && !features.is_empty()) {
            return Box::pin(self.own_session(&upstream, features, cx)).await;
        }
        if features.is_empty() {
            return Ok(Lease::shared(main));
        }
        let session = Box::pin(self.modern_session(server, features)).await;
        session.map(Lease::shared).map_err(HandlerError::reply)
    }

    /// Returns a session that declares these capabilities and belongs to the caller, or to this call of it.
    async fn own_session(
        &self,
        upstream: &Arc<Upstream>,
        features: ClientFeatures,
        cx: &CallContext,
    ) -> Result<Lease, HandlerError> {
        let server = &upstream.name;
        let caller = cx.principal().map(|principal| principal.name().into());
        let open = |caller_side| self.open(upstream, features, caller_side, caller.as_ref());
        let opened = if let Some(own) = cx.session_state::<CallerSessions>() {
            let own_side = || Caller::Session {
                peer: cx.peer(),
                runtime: self.runtime.clone(),
            };
            let key = (format!("{}/{server}", self.process).into(), features);
            let session = own.0.get(&key, || open(own_side())).await;
            session.map(Lease::shared)
        } else {
            let key = (caller.clone(), (Arc::clone(server), features));
            let open = || open(Caller::Call);
            self.leases.get(key, &self.runtime, open).await
        };
        opened.map_err(|error| HandlerError::reply(not_opened(server, error)))
    }

    /// Returns the session with a server of 2026-07-28 that declares these capabilities. All callers that declare the same share it, because
    /// each request stands for itself.
    pub(super) async fn modern_session(
        &self,
        server: &Arc<str>,
        features: ClientFeatures,
    ) -> Result<Arc<Session>, ErrorReply> {
        let upstream = self.upstream(server).ok_or_else(|| unreachable(server))?;
        if features.is_empty() {
            return upstream.main().await.ok_or_else(|| unreachable(server));
        }
        let key = (Arc::clone(server), features);
        let open = || self.open(&upstream, features, Caller::Nobody, None);
        let session = self.modern.get(&key, open).await;
        session.map_err(|error| not_opened(server, error))
    }

    /// Opens a session that declares these capabilities.
    pub(super) async fn open(
        &self,
        upstream: &Upstream,
        features: ClientFeatures,
        caller_side: Caller,
        caller: Option<&Arc<str>>,
    ) -> Result<Session, OpenError> {
        let place = self
            .places
            .take(caller, self.runtime.now())
            .ok_or(OpenError::Full)?;
        let bridge = Bridge::new(caller_side);
        let mut client = Client::builder(NAME, env!("CARGO_PKG_VERSION"));
        if let Some(configure) = &self.configure {
            client = configure(&upstream.name, client);
        }
        let client = client.tasks(TaskOptions::default());
        let client = declare(client, features, &bridge);
        let connected = upstream.entry.connect(self.runtime.clone(), client).await;
        let client = connected.map_err(OpenError::Failed)?;
        Ok(Session::new(client, bridge, place))
    }

    /// Keeps a call that waits for its caller; `None` if too many do.
    pub(super) fn hold(&self, call: RunningCall) -> Option<u64> {
        let bounds = (self.limits.held_calls, self.limits.held_time);
        self.held.put(call, &self.runtime, bounds)
    }

    /// Ends the sessions that have had no call for long.
    pub(super) fn end_idle(&self) {
        let now = self.runtime.now().as_millis();
        let idle = u64::try_from(self.limits.idle.as_millis()).unwrap_or(u64::MAX);
        let since = mcp_async::Instant::from_millis(now.saturating_sub(idle));
        self.leases.end_idle(since);
    }

    /// Notes the errors of the last change of the items.
    pub(super) fn note_left_out(&self, errors: Vec<RegisterError>) {
        self.left_out.change(|left_out| *left_out = errors);
    }

    /// Ends all sessions.
    pub(super) fn end(&self) {
        self.ended.change(|ended| *ended = true);
        let upstreams = self.upstreams.change(core::mem::take);
        upstreams.iter().for_each(|upstream| upstream.remove());
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.read(|ended| *ended)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The name that servers are told.
const NAME: &str = "mcp-compose";
