//! The state of a proxy that runs: its servers, and the sessions with them.

use core::hash::{BuildHasher, Hasher};
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::sync::{Arc, Weak};

use mcp_async::Client;
use mcp_async::client::ConnectError;
use mcp_async::model::{ClientFeatures, Meta};
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{CallContext, HandlerError, Principal, RegisterError};
use mcp_async::tasks::client::TaskOptions;

use super::ProxyLimits;
use super::asker::Asker;
use super::bridge::{Bridge, Caller, declare};
use super::capabilities::relayed;
use super::front::{Front, ServedFront};
use super::held::{HeldCalls, Waits};
use super::path::onward;
use super::places::{Owner, Places};
use super::replies::{not_opened, unreachable};
use super::sessions::{Key, Lease, Leases, OpenError, Session, Sessions};
use super::task_id::TaskKey;
use super::upstream::{CallerEntry, Upstream};
use crate::catalog::{Catalog, CatalogLimits};
use crate::entry::ServerEntry;
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
    /// Servers without calls are not kept connected.
    rests: bool,
    /// Names are as servers gave them.
    pub(super) is_bare: bool,
    pub(super) shows: Option<Arc<Shows>>,
    pub(super) caller_entries: CallerEntries,
    pub(super) places: Arc<Places>,
    /// `None` without randomness: then there are no tasks.
    pub(super) tasks: Option<TaskKey>,
    /// Sessions without questions outside of results. Those in which tasks were made stay as long as the tasks.
    quiet: Sessions,
    leases: Arc<Leases>,
    /// True if resources of several servers have one URI.
    pub(super) has_aliases: AtomicBool,
    /// The servers in front, each with what is gone with it.
    pub(super) fronts: Watch<Vec<ServedFront>>,
    pub(super) this: Weak<Self>,
    /// Items that could not be registered.
    pub(super) left_out: Watch<Vec<RegisterError>>,
    /// True once the proxy is over.
    pub(super) ended: Arc<Watch<bool>>,
}

/// Decides which items of a server are offered: of the server, and of the name or URI that the item has there.
pub(super) type Exposes = dyn Fn(&str, &str) -> bool + Send + Sync;
/// Decides which callers see an item.
pub(super) type Shows = dyn Fn(&str, &str, Option<&Principal>) -> bool + Send + Sync;
/// Makes the entries of servers for a caller, by the names of the servers.
pub(super) type CallerEntries = HashMap<String, Arc<CallerEntry>>;

/// The sessions of one legacy caller, which end with its own.
#[derive(Default)]
struct CallerSessions(Sessions);

/// The settings of a proxy.
pub(super) struct Settings {
    pub(super) limits: ProxyLimits,
    pub(super) keeps_items: bool,
    pub(super) rests: bool,
    pub(super) naming: Naming,
    pub(super) catalog: CatalogLimits,
    pub(super) exposes: Option<Box<Exposes>>,
    pub(super) shows: Option<Arc<Shows>>,
    pub(super) caller_entries: CallerEntries,
    pub(super) task_key: Option<TaskKey>,
}

impl Running {
    pub(super) fn new(runtime: RuntimeHandle, settings: Settings) -> Arc<Self> {
        let Settings {
            limits,
            keeps_items,
            rests,
            naming,
            catalog,
            exposes,
            shows,
            caller_entries,
            task_key,
        } = settings;
        let process = format!("{:016x}", RandomState::new().build_hasher().finish());
        let own = process.clone();
        let accepts = move |server: &str, name: &str, meta: &Meta| {
            let is_exposed = exposes.as_ref().is_none_or(|exposes| exposes(server, name));
            is_exposed && onward(&own, meta).is_some()
        };
        let is_bare = naming.is_bare();
        let naming = naming.with_aliases();
        let catalog = Catalog::accepting(runtime.clone(), naming, catalog, Box::new(accepts));
        Arc::new_cyclic(|this| Self {
            process,
            runtime,
            catalog,
            upstreams: Watch::default(),
            held: Arc::default(),
            places: Places::new(limits.clone()),
            tasks: task_key.or_else(TaskKey::random),
            limits,
            keeps_items,
            rests,
            is_bare,
            shows,
            caller_entries,
            quiet: Sessions::default(),
            leases: Arc::default(),
            has_aliases: AtomicBool::new(false),
            fronts: Watch::default(),
            this: Weak::clone(this),
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
    /// caller of 2026-07-28. A server of 2026-07-28 asks within requests, so that its sessions are quiet.
    pub(super) async fn session_for(
        &self,
        server: &Arc<str>,
        cx: &CallContext,
    ) -> Result<Lease, HandlerError> {
        let reachable = self.upstream(server).ok_or_else(|| unreachable(server));
        let upstream = reachable.map_err(HandlerError::reply)?;
        if self.rests {
            upstream.note_use(self.runtime.now());
        }
        let main = match upstream.main_now() {
            Some(main) => main,
            None => {
                let main = Box::pin(upstream.main()).await;
                main.ok_or_else(|| HandlerError::reply(unreachable(server)))?
            }
        };
        let features = relayed(cx.client());
        let may_ask = main.revision.is_legacy() && !features.is_empty();
        if may_ask || main.logs(cx) {
            return Box::pin(self.own_session(&upstream, features, cx)).await;
        }
        if features.is_empty() && upstream.caller_entry.is_none() {
            return Ok(Lease::shared(main));
        }
        let session = Box::pin(self.quiet_session(server, features, Asker::of(cx))).await;
        session
            .map(Lease::shared)
            .map_err(|error| not_opened(server, error))
    }

    /// Returns a session that declares these capabilities and belongs to the caller, or to this call of it.
    async fn own_session(
        &self,
        upstream: &Arc<Upstream>,
        features: ClientFeatures,
        cx: &CallContext,
    ) -> Result<Lease, HandlerError> {
        let server = &upstream.name;
        let caller = Asker::of(cx);
        let owner = Owner::Caller(caller.name());
        let open = |side| self.open(upstream, features, side, caller, owner.clone());
        let mut key = Key {
            server: Arc::clone(server),
            features,
            caller: caller.name(),
        };
        let opened = if let Some(own) = cx.session_state::<CallerSessions>() {
            let own_side = || Caller::Session {
                peer: cx.peer(),
                runtime: self.runtime.clone(),
            };
            key.server = format!("{}/{server}", self.process).into();
            let opened = own.0.get(&key, &self.runtime, || open(own_side())).await;
            if let Ok(session) = &opened
                && session.is_new()
            {
                self.follow_watched(server, session, &cx.peer()).await;
            }
            opened.map(Lease::shared)
        } else {
            let open = || open(Caller::Call);
            self.leases.get(&key, &self.runtime, open).await
        };
        opened.map_err(|error| not_opened(server, error))
    }

    /// Returns a session that declares these capabilities, for requests without questions outside of their results. All callers share it;
    /// if each caller has an entry of its own, it is that caller's.
    pub(super) async fn quiet_session(
        &self,
        server: &Arc<str>,
        features: ClientFeatures,
        caller: Asker<'_>,
    ) -> Result<Arc<Session>, OpenError> {
        let gone = || OpenError::Failed(ConnectError::Closed);
        let upstream = self.upstream(server).ok_or_else(gone)?;
        let is_own = upstream.caller_entry.is_some();
        if features.is_empty() && !is_own {
            return upstream.main().await.ok_or_else(gone);
        }
        let key = Key {
            server: Arc::clone(server),
            features,
            caller: caller.name().filter(|_| is_own),
        };
        let owner = match is_own {
            true => Owner::Caller(caller.name()),
            false => Owner::All(caller.name()),
        };
        let open = || self.open(&upstream, features, Caller::Nobody, caller, owner);
        self.quiet.get(&key, &self.runtime, open).await
    }

    /// Opens a session for this caller that declares these capabilities.
    async fn open(
        &self,
        upstream: &Upstream,
        features: ClientFeatures,
        side: Caller,
        caller: Asker<'_>,
        owner: Owner,
    ) -> Result<Arc<Session>, OpenError> {
        let Some(entry) = &upstream.caller_entry else {
            let opened = self.open_by(upstream, &upstream.entry, features, side, owner);
            return opened.await;
        };
        let caller = caller.verified().ok_or(OpenError::Unverified)?;
        let entry = entry(caller).await.map_err(OpenError::Refused)?;
        self.open_by(upstream, &entry, features, side, owner).await
    }

    /// Opens a session by this entry.
    pub(super) async fn open_by(
        &self,
        upstream: &Upstream,
        entry: &ServerEntry,
        features: ClientFeatures,
        side: Caller,
        owner: Owner,
    ) -> Result<Arc<Session>, OpenError> {
        let place = self
            .places
            .take(owner, self.runtime.now())
            .ok_or(OpenError::Full)?;
        let bridge = Bridge::new(side);
        let client = Client::builder(NAME, env!("CARGO_PKG_VERSION")).tasks(TaskOptions::default());
        let client = declare(client, features, &bridge);
        let connected = entry.connect(self.runtime.clone(), client).await;
        let client = connected.map_err(OpenError::Failed)?;
        let session = Arc::new(Session::new(client, bridge, place));
        match upstream.adds(&session) {
            true => Ok(session),
            false => {
                session.end(&self.runtime);
                Err(OpenError::Failed(ConnectError::Closed))
            }
        }
    }

    /// Keeps a call that waits for its caller; `None` if too many do.
    pub(super) fn hold(&self, call: Waits) -> Option<u64> {
        let bounds = (self.limits.held_calls, self.limits.held_time);
        self.held.put(call, &self.runtime, bounds)
    }

    /// Ends the sessions that have had no call for long.
    pub(super) fn end_idle(&self) {
        let now = self.runtime.now();
        let before = |time: Duration| {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            mcp_async::Instant::from_millis(now.as_millis().saturating_sub(time))
        };
        self.leases.end_idle(before(self.limits.idle));
        // Callers may come back with an answer, to a server that knows the state of the call in this session only.
        let since = before(self.limits.idle.max(self.limits.held_time));
        self.quiet.end_idle(since, now);
        if self.rests {
            let upstreams = self.upstreams.read(Clone::clone);
            upstreams
                .iter()
                .for_each(|one| one.rest(since, &self.runtime));
        }
    }

    /// Notes the errors of the last change of the items.
    pub(super) fn note_left_out(&self, errors: Vec<RegisterError>) {
        self.left_out.change(|left_out| *left_out = errors);
    }

    /// Adds a server in front, and forgets those that are gone.
    pub(super) fn add_front(&self, served: Weak<()>, front: Arc<dyn Front>) {
        self.fronts.change(|fronts| {
            fronts.retain(|(served, _)| served.strong_count() > 0);
            fronts.push((served, front));
        });
    }

    /// Ends all sessions.
    pub(super) fn end(&self) {
        self.ended.change(|ended| *ended = true);
        let upstreams = self.upstreams.change(core::mem::take);
        upstreams
            .iter()
            .for_each(|upstream| upstream.remove(&self.runtime));
        self.held.clear();
        let end = mcp_async::Instant::from_millis(u64::MAX);
        self.leases.end_idle(end);
        self.quiet.end_idle(end, end);
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
