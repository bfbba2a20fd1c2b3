//! State that the clones of a built server, its registry and its connections share.

use core::any::Any;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Waker;
#[cfg(feature = "http-server")]
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use mcp_proto::json::{Map, Raw, RawBuf};
use mcp_proto::model::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability,
};
use mcp_proto::server::{Growing, ListKind, PreparedConfig, ServerConfig, ServerSetup};
use mcp_proto::{Limits, PingPolicy, RevisionSet};

use super::catalog::{Catalog, Change};
use super::item::{Item, RegisterError};
use super::layers::Trace;
use super::lister::Lister;
use super::live::Live;
use super::rate::{Buckets, RateLimits};
use super::resource::CacheHint;
use super::router::{Method, Router};
use super::runner::Runner;
use super::view::{CurrentView, View};
use super::visibility::Visibility;
use super::{GRACE, Peer, Service, StateKeys};
#[cfg(feature = "http-server")]
use crate::connection::register;
use crate::model::Implementation;

/// What serves one connection, whatever layers are around it.
pub type BoxService = Box<dyn Service>;

pub(super) struct Inner {
    pub(super) settings: Arc<Settings>,
    catalog: RwLock<Arc<Catalog>>,
    connections: Mutex<Connections>,
    /// The server was shut down: a new connection ends as soon as it begins. Set under the lock of
    /// the connections.
    closing: AtomicBool,
    view: CurrentView,
    /// The state of handlers that have none.
    pub(super) unit: Arc<()>,
    /// The states that the builder was given. Registries refer to them and do not keep them.
    _states: States,
}

/// Values that are kept for others.
pub(super) type States = Vec<Arc<dyn Any + Send + Sync>>;

/// The settings of the builder, which do not change afterwards.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) revisions: RevisionSet,
    pub(super) limits: Limits,
    pub(super) ping: Option<PingPolicy>,
    pub(super) logging: bool,
    pub(super) page_size: usize,
    pub(super) hint: CacheHint,
    pub(super) extensions: Vec<(String, RawBuf)>,
    pub(super) experimental: Vec<(String, RawBuf)>,
    pub(super) methods: Vec<Arc<Method>>,
    pub(super) listers: Vec<Arc<Lister>>,
    pub(super) layers: Vec<Wrap>,
    pub(super) trace: Trace,
    pub(super) rates: RateLimits,
    pub(super) progress_interval: Duration,
    /// How long handlers may continue after the end of a pipe.
    pub(super) shutdown_timeout: Duration,
    pub(super) keys: Option<StateKeys>,
    pub(super) list_changed: Vec<ListKind>,
    /// Whatever is registered can change, and resources can be subscribed to.
    pub(super) change_notifications: bool,
    /// Its sessions over HTTP are held to the transports draft.
    pub(super) draft: bool,
}

type Wrap = Arc<dyn Fn(BoxService) -> BoxService + Send + Sync>;

#[derive(Default)]
struct Connections {
    live: Live,
    /// Those who wait for the server to be shut down.
    waiting: Vec<Waker>,
}

impl Settings {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            revisions: RevisionSet::all(),
            limits: Limits::default(),
            ping: None,
            logging: false,
            page_size: PAGE,
            hint: CacheHint::default(),
            extensions: Vec::new(),
            experimental: Vec::new(),
            methods: Vec::new(),
            listers: Vec::new(),
            layers: Vec::new(),
            trace: Trace::new(),
            keys: None,
            rates: RateLimits::default(),
            progress_interval: PROGRESS,
            shutdown_timeout: GRACE,
            list_changed: Vec::new(),
            change_notifications: false,
            draft: false,
        }
    }
}

impl Settings {
    /// What cannot be meant.
    pub(super) fn mistakes(&self, catalog: &Catalog) -> Vec<RegisterError> {
        let mut mistakes = Vec::new();
        if self.page_size == 0 {
            mistakes.push(RegisterError::zero("page_size"));
        }
        if let Err(error) = PreparedConfig::<Growing>::new(declare(self, catalog)) {
            mistakes.push(RegisterError::setting("limits", &error));
        }
        mistakes
    }
}

impl Inner {
    pub(super) fn new(settings: Settings, catalog: Catalog, states: States) -> Arc<Self> {
        Arc::new(Self {
            settings: Arc::new(settings),
            catalog: RwLock::new(Arc::new(catalog)),
            connections: Mutex::default(),
            closing: AtomicBool::new(false),
            view: CurrentView::default(),
            unit: Arc::default(),
            _states: states,
        })
    }

    /// What is said and offered now.
    pub(super) fn view(&self) -> Arc<View> {
        self.view.get(|| {
            let catalog = self.catalog.read();
            let catalog = Arc::clone(&catalog.unwrap_or_else(PoisonError::into_inner));
            View {
                prepared: PreparedConfig::with_room(declare(&self.settings, &catalog)),
                catalog,
            }
        })
    }

    /// Registers an item, and tells the clients.
    pub(super) fn add(&self, item: Item) -> Result<(), RegisterError> {
        let draft = self.settings.draft;
        let change = self.change(|catalog| catalog.add(item, draft))?;
        self.report(&change);
        Ok(())
    }

    /// Takes an item away, and tells the clients; whether there was one.
    pub(super) fn remove(
        &self,
        kind: ListKind,
        remove: impl FnOnce(&mut Catalog) -> Option<Visibility>,
    ) -> bool {
        let removed = self.change(remove);
        let change = removed.map(|seen| Change::new(kind, seen, None));
        if let Some(change) = &change {
            self.report(change);
        }
        change.is_some()
    }

    /// Tells the clients whose list has changed.
    fn report(&self, change: &Change) {
        for peer in self.peers() {
            if change.concerns(peer.principal().as_ref()) {
                peer.list_changed(change.kind);
            }
        }
    }

    /// Tells the clients, or those of the named principal, that a resource which they may see has
    /// other contents now.
    pub(super) fn resource_updated(&self, uri: &str, name: Option<&str>) {
        let catalog = &self.view().catalog;
        let restricted = catalog.restricts_resources();
        let shown =
            |peer: &Peer| !restricted || catalog.shows_resource(uri, peer.principal().as_ref());
        for peer in self.peers() {
            if name.is_none_or(|name| peer.is_of(name)) && shown(&peer) {
                peer.resource_updated(uri);
            }
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Catalog) -> T) -> T {
        let changed = {
            // Without a view the catalog is changed where it is, and not copied.
            self.view.end();
            let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
            change(Arc::make_mut(&mut catalog))
        };
        self.view.end();
        changed
    }

    /// What serves one connection.
    pub(super) fn service(self: &Arc<Self>, runner: Option<Runner>) -> BoxService {
        self.service_sharing(runner, Arc::default())
    }

    /// The same for a connection that shares its limits with others.
    pub(super) fn service_sharing(
        self: &Arc<Self>,
        runner: Option<Runner>,
        buckets: Arc<Buckets>,
    ) -> BoxService {
        let settings = Arc::clone(&self.settings);
        let router = Router::new(self, Arc::clone(&settings), runner, buckets);
        let service = settings
            .layers
            .iter()
            .fold(Box::new(router) as BoxService, |service, layer| {
                layer(service)
            });
        settings.trace.wrap(service)
    }

    /// From now on the client is notified of changes.
    pub(super) fn connected(&self, peer: &Peer) {
        if let Some(limit) = self.settings.rates.logs {
            peer.limit_logs(limit);
        }
        let closing = {
            let mut connections = self.connections();
            connections.live.add(peer);
            self.closing.load(Ordering::Acquire)
        };
        if closing {
            peer.shutdown();
        }
    }

    /// The connection has ended.
    #[cfg(feature = "http-server")]
    pub(super) fn disconnected(&self, peer: &Peer) {
        self.connections().live.remove(peer);
    }

    /// Ends every connection in good order, and those to come.
    pub(super) fn shutdown(&self) {
        let waiting = {
            let mut connections = self.connections();
            self.closing.store(true, Ordering::Release);
            core::mem::take(&mut connections.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
        self.peers().iter().for_each(Peer::shutdown);
    }

    #[cfg(feature = "http-server")]
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Ready once the server was shut down.
    #[cfg(feature = "http-server")]
    pub(super) fn poll_closing(&self, cx: &Context<'_>) -> Poll<()> {
        let mut connections = self.connections();
        if self.closing.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        register(&mut connections.waiting, cx);
        Poll::Pending
    }

    pub(super) fn list_changed(&self, kind: ListKind) {
        for peer in self.peers() {
            peer.list_changed(kind);
        }
    }

    /// The clients that are there now.
    pub(super) fn peers(&self) -> Vec<Peer> {
        self.connections().live.peers()
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Declares what is served, and nothing else.
fn declare(settings: &Settings, catalog: &Catalog) -> ServerSetup<'static> {
    let changes = |kind: ListKind, empty: bool| {
        let said = settings.list_changed.contains(&kind);
        let changes = said || (settings.change_notifications && !empty);
        (said || !empty).then_some(changes)
    };
    let no_resources =
        catalog.resources.is_empty() && catalog.templates.is_empty() && settings.listers.is_empty();
    let experimental = members(&settings.experimental);
    let extensions = members(&settings.extensions);
    let capabilities = ServerCapabilities {
        experimental: (!experimental.is_empty()).then_some(Map::new(&experimental)),
        logging: settings.logging.then_some(Map::EMPTY),
        completions: catalog.completes().then_some(Map::EMPTY),
        prompts: changes(ListKind::Prompts, catalog.prompts.is_empty())
            .map(|list_changed| PromptsCapability { list_changed }),
        resources: changes(ListKind::Resources, no_resources).map(|list_changed| {
            ResourcesCapability {
                subscribe: settings.change_notifications,
                list_changed,
            }
        }),
        tools: changes(ListKind::Tools, catalog.tools.is_empty())
            .map(|list_changed| ToolsCapability { list_changed }),
        tasks: None,
        extensions: (!extensions.is_empty()).then_some(Map::new(&extensions)),
    };
    let info = RawBuf::encode(&settings.info).unwrap_or_default();
    let methods: Vec<&str> = settings
        .methods
        .iter()
        .map(|method| &*method.name)
        .collect();
    let mut config = ServerConfig::new("", "");
    config.info = info.decode().unwrap_or(config.info);
    config.instructions = settings.instructions.as_deref();
    config.capabilities = capabilities;
    config.revisions = settings.revisions;
    config.limits = settings.limits;
    config.ping = settings.ping;
    config.progress_interval = settings.progress_interval;
    if let Some(scope) = settings.hint.scope {
        config.discover_ttl = u32::try_from(settings.hint.ttl_ms).unwrap_or(u32::MAX);
        config.discover_scope = scope;
    }
    config.methods = &methods;
    ServerSetup::shared(&config)
}

/// Names with their settings, as the core borrows them.
fn members(pairs: &[(String, RawBuf)]) -> Vec<(&str, Raw<'_>)> {
    pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_raw()))
        .collect()
}

/// The items on a page, unless it is said.
const PAGE: usize = 1000;
/// Ten times a second is as much as a person sees.
const PROGRESS: Duration = Duration::from_millis(100);
