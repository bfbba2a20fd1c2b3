//! State that the clones of a built server, its registry and its connections share.

use core::any::Any;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::{Arc, PoisonError, RwLock};

use mcp_proto::server::ListKind;

use super::announcement::{Announcement, OnAnnouncement};
use super::declare::{Caller, declare};
use super::portions::in_portions;
use super::settings::Settings;
use super::view::{CurrentView, View};
use crate::server::Peer;
use crate::server::background::Works;
use crate::server::caller::live::Live;
use crate::server::items::catalog::{Catalog, Change};
use crate::server::items::item::Item;
use crate::server::items::register_error::{RegisterError, TWICE};
use crate::server::items::resource::CacheHint;
use crate::sync::{Lock, Waiters};

pub(crate) struct Inner {
    pub(in crate::server) settings: Arc<Settings>,
    catalog: RwLock<Arc<Catalog>>,
    connections: Lock<Connections>,
    /// The server was shut down: a new connection ends as soon as it begins. Set under the lock of
    /// the connections.
    closing: AtomicBool,
    pub(in crate::server) works: Arc<Works>,
    /// In how many ways it is served that end it when they end.
    pub(in crate::server) serving: AtomicUsize,
    /// The time that calls and tasks have after a shutdown, in milliseconds.
    grace: AtomicU64,
    view: CurrentView,
    /// Functions that announce changes to other processes.
    on_announcement: RwLock<Vec<OnAnnouncement>>,
    /// The states that the builder was given. Registries refer to them and do not keep them.
    _states: States,
}

/// Values that are kept for others.
pub(in crate::server) type States = Vec<Arc<dyn Any + Send + Sync>>;

#[derive(Default)]
struct Connections {
    live: Live,
    /// Wakers of futures that wait for the shutdown of the server.
    waiting: Waiters,
}

impl Inner {
    pub(in crate::server) fn new(
        settings: Settings,
        catalog: Catalog,
        states: States,
    ) -> Arc<Self> {
        let inner = Arc::new(Self {
            works: Works::new(&settings.background),
            settings: Arc::new(settings),
            catalog: RwLock::new(Arc::new(catalog)),
            connections: Lock::default(),
            closing: AtomicBool::new(false),
            serving: AtomicUsize::new(0),
            grace: AtomicU64::new(0),
            view: CurrentView::default(),
            on_announcement: RwLock::default(),
            _states: states,
        });
        inner.allow(inner.settings.shutdown_timeout);
        inner
    }

    /// Gives calls and tasks at least this time after a shutdown.
    pub(in crate::server) fn allow(&self, grace: Duration) {
        let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.grace.fetch_max(millis, Ordering::AcqRel);
    }

    /// Returns the current configuration and items.
    pub(in crate::server) fn view(&self) -> Arc<View> {
        self.view.get(|| {
            let catalog = self.catalog.read();
            let catalog = Arc::clone(&catalog.unwrap_or_else(PoisonError::into_inner));
            let prepare = |caller| declare(&self.settings, &catalog, caller);
            View {
                prepared: prepare(Caller::Anonymous),
                prepared_for_known: self.settings.core_tasks.then(|| prepare(Caller::Known)),
                #[cfg(all(feature = "auth", feature = "http-server"))]
                has_scopes: catalog.has_scopes() || self.settings.has_scopes(),
                catalog,
            }
        })
    }

    /// Registers an item, and tells the clients.
    pub(in crate::server) fn add(&self, item: Item) -> Result<(), RegisterError> {
        let draft = self.settings.draft;
        let change = self.change(|catalog| catalog.add(item, draft))?;
        self.report(&change);
        Ok(())
    }

    /// Registers an item unless there is one with the same key, and tells the clients.
    pub(in crate::server) fn add_new(&self, item: Item) -> Result<(), RegisterError> {
        let draft = self.settings.draft;
        let change = self.change(|catalog| match catalog.holds(&item) {
            true => Err(item.error(&TWICE)),
            false => catalog.add(item, draft),
        })?;
        self.report(&change);
        Ok(())
    }

    /// Takes an item away, and tells the clients; whether there was one.
    pub(in crate::server) fn remove(
        &self,
        remove: impl FnOnce(&mut Catalog) -> Option<Change>,
    ) -> bool {
        let change = self.change(remove);
        if let Some(change) = &change {
            self.report(change);
        }
        change.is_some()
    }

    /// Tells the clients whose list has changed.
    fn report(&self, change: &Change) {
        let (mut peers, kind) = (self.peers(), change.kind);
        peers.retain(|peer| change.concerns(peer.principal().as_ref()));
        in_portions(peers, move |peer| peer.list_changed(kind));
        // Other processes do not know who may see the item.
        if change.concerns(None) {
            self.announce(&Announcement::list(change.kind, None));
        }
    }

    /// Tells the clients, or those of the named principal, that a resource which they may see, and
    /// whose scopes their tokens have, has other contents now, in all processes.
    pub(in crate::server) fn resource_updated(&self, uri: &str, name: Option<&str>) {
        self.notify_updated(uri, name);
        self.announce(&Announcement::Resource {
            uri: uri.to_owned(),
            principal: name.map(str::to_owned),
        });
    }

    /// Notifies the clients of this process, or those of the named principal, that a resource which
    /// they may see has other contents now.
    fn notify_updated(&self, uri: &str, name: Option<&str>) {
        let catalog = &self.view().catalog;
        let restricted = catalog.restricts_resources();
        let shown =
            |peer: &Peer| !restricted || catalog.shows_resource(uri, peer.principal().as_ref());
        let mut peers = self.peers();
        peers.retain(|peer| {
            let is_told = name.is_none_or(|name| peer.is_of(name)) && shown(peer);
            #[cfg(all(feature = "auth", feature = "http-server"))]
            let is_told = is_told && self.may_read(peer, uri);
            is_told
        });
        let uri = uri.to_owned();
        in_portions(peers, move |peer| peer.resource_updated(&uri));
    }

    pub(in crate::server) fn cache_list(&self, list: ListKind, hint: CacheHint) {
        self.change(|catalog| catalog.set_hint(list, hint));
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

    /// From now on the client is notified of changes.
    pub(crate) fn connected(&self, peer: &Peer) {
        self.settings.apply(peer);
        let closing = {
            let mut connections = self.connections.lock();
            connections.live.add(peer);
            self.closing.load(Ordering::Acquire)
        };
        if closing {
            peer.shutdown();
        }
    }

    /// The connection has ended.
    pub(crate) fn disconnected(&self, peer: &Peer) {
        self.connections.lock().live.remove(peer);
    }

    /// Ends every connection in good order, and those to come.
    pub(in crate::server) fn shutdown(&self) {
        let waiting = {
            let mut connections = self.connections.lock();
            self.closing.store(true, Ordering::Release);
            connections.waiting.take()
        };
        waiting.wake();
        self.peers().iter().for_each(Peer::shutdown);
        let grace = self.grace.load(Ordering::Acquire);
        self.works.begin_shutdown(Duration::from_millis(grace));
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Ready once the server was shut down.
    pub(crate) fn poll_closing(&self, cx: &Context<'_>) -> Poll<()> {
        let mut connections = self.connections.lock();
        if self.closing.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        connections.waiting.register(cx);
        Poll::Pending
    }

    /// Tells the clients, or those of the named principal, that a list has changed, in all processes.
    pub(in crate::server) fn list_changed(&self, kind: ListKind, name: Option<&str>) {
        self.notify_changed(kind, name);
        self.announce(&Announcement::list(kind, name));
    }

    /// Notifies the clients of this process, or those of the named principal, that a list has
    /// changed.
    fn notify_changed(&self, kind: ListKind, name: Option<&str>) {
        let mut peers = self.peers();
        peers.retain(|peer| name.is_none_or(|name| peer.is_of(name)));
        in_portions(peers, move |peer| peer.list_changed(kind));
    }

    /// Lets this know of the changes that are reported here.
    pub(crate) fn on_announcement(&self, report: OnAnnouncement) {
        let reports = self.on_announcement.write();
        reports.unwrap_or_else(PoisonError::into_inner).push(report);
    }

    fn announce(&self, change: &Announcement) {
        let reports = self.on_announcement.read();
        for report in reports.unwrap_or_else(PoisonError::into_inner).iter() {
            report(change);
        }
    }

    /// Another process has reported a change.
    pub(crate) fn announced(&self, change: &Announcement) {
        match change {
            Announcement::List { list, principal } => {
                self.notify_changed(list.kind(), principal.as_deref());
            }
            Announcement::Resource { uri, principal } => {
                self.notify_updated(uri, principal.as_deref());
            }
        }
    }

    /// Changes may have been missed: tells the clients of this process that each list has changed, and each
    /// resource that they are subscribed to.
    pub(crate) fn announce_all(&self) {
        for kind in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
            self.notify_changed(kind, None);
        }
        in_portions(self.peers(), Peer::resources_updated);
    }

    /// The clients that are there now.
    pub(in crate::server) fn peers(&self) -> Vec<Peer> {
        self.connections.lock().live.peers()
    }
}
