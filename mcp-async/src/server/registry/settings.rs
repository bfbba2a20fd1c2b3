//! The settings of a server.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{RawBuf, Str};
use mcp_proto::server::{ListKind, ServerConfig};
use mcp_proto::{Revision, RevisionSet, rpc};

use crate::model::Implementation;
use crate::server::background::Background;
use crate::server::call::service::Wrap;
use crate::server::caller::extension_revisions::ExtensionRevisions;
use crate::server::caller::peer::Peer;
use crate::server::caller::rate::RateLimits;
use crate::server::connection::GRACE;
use crate::server::extension::{Declaration, Filter, Notification};
use crate::server::items::lister::Lister;
use crate::server::items::method::Method;
use crate::server::items::register_error::{RegisterError, TWICE};
use crate::server::items::resource::CacheHint;
use crate::server::layers::Trace;
use crate::server::rounds::StateKeys;

/// The settings of the builder, which do not change afterwards.
#[derive(Clone)]
pub(in crate::server) struct Settings {
    pub(in crate::server) info: Implementation,
    pub(in crate::server) instructions: Option<String>,
    /// The settings of the core, without texts and without what follows from the items.
    pub(in crate::server) config: ServerConfig<'static>,
    pub(in crate::server) logging: bool,
    pub(in crate::server) page_size: usize,
    pub(in crate::server) hint: CacheHint,
    pub(in crate::server) extensions: Vec<Declaration>,
    pub(in crate::server) experimental: Vec<(String, RawBuf)>,
    pub(in crate::server) methods: Vec<Arc<Method>>,
    pub(in crate::server) notifications: Vec<Arc<Notification>>,
    /// Handles the notification that the roots of a client have changed.
    pub(in crate::server) roots_changed: Option<Arc<RootsChanged>>,
    pub(in crate::server) filters: Vec<Arc<Filter>>,
    /// Calls of tools may be tasks of 2025-11-25.
    pub(in crate::server) core_tasks: bool,
    /// The notifications that the server sends.
    pub(in crate::server) sends: Vec<(String, RevisionSet)>,
    pub(in crate::server) listers: Vec<Arc<Lister>>,
    pub(in crate::server) layers: Vec<Wrap>,
    pub(in crate::server) background: Vec<Arc<dyn Background>>,
    /// Layers ask for the tool or the method that a call names.
    pub(in crate::server) finds_tools: bool,
    pub(in crate::server) trace: Trace,
    pub(in crate::server) rates: RateLimits,
    /// The time that handlers have after the end of a pipe.
    pub(in crate::server) shutdown_timeout: Duration,
    pub(in crate::server) keys: Option<StateKeys>,
    pub(in crate::server) list_changed: Vec<ListKind>,
    /// Whatever is registered can change, and resources can be subscribed to.
    pub(in crate::server) change_notifications: bool,
    /// Its sessions over HTTP are held to the transports draft.
    pub(in crate::server) draft: bool,
}

pub(in crate::server) type RootsChanged = dyn Fn(&Peer) + Send + Sync;

impl Settings {
    pub(in crate::server) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            config: ServerConfig {
                progress_interval: PROGRESS,
                ..ServerConfig::new("", "")
            },
            logging: false,
            page_size: PAGE,
            hint: CacheHint::default(),
            extensions: Vec::new(),
            experimental: Vec::new(),
            methods: Vec::new(),
            notifications: Vec::new(),
            roots_changed: None,
            filters: Vec::new(),
            core_tasks: false,
            sends: Vec::new(),
            listers: Vec::new(),
            layers: Vec::new(),
            background: Vec::new(),
            finds_tools: false,
            trace: Trace::new(),
            keys: None,
            rates: RateLimits::default(),
            shutdown_timeout: GRACE,
            list_changed: Vec::new(),
            change_notifications: false,
            draft: false,
        }
    }

    /// Lets a connection be one of this server.
    pub(in crate::server) fn apply(self: &Arc<Self>, peer: &Peer) {
        peer.configure(self.rates.logs, Arc::clone(self) as _);
    }

    /// Finds a method of the application.
    pub(in crate::server) fn method(&self, name: Str<'_>) -> Option<&Method> {
        let mut methods = self.methods.iter();
        methods
            .find(|method| name == *method.name)
            .map(|method| &**method)
    }

    pub(in crate::server) fn add_method(
        &mut self,
        method: Method,
        mistakes: &mut Vec<RegisterError>,
    ) {
        if self.has_name(&method.name) {
            mistakes.push(RegisterError::new("method", &method.name, &TWICE));
        } else {
            self.finds_tools |= method.long_running;
            self.methods.push(Arc::new(method));
        }
    }

    pub(in crate::server) fn add_notification(
        &mut self,
        notification: Notification,
        mistakes: &mut Vec<RegisterError>,
    ) {
        let name = &notification.name;
        if self.has_name(name) {
            mistakes.push(RegisterError::new("notification", name, &TWICE));
        } else {
            self.notifications.push(Arc::new(notification));
        }
    }

    /// Returns true if some methods need scopes.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) fn has_scopes(&self) -> bool {
        self.methods.iter().any(|method| !method.scopes.is_empty())
    }

    pub(in crate::server) fn add_filter(
        &mut self,
        filter: Filter,
        mistakes: &mut Vec<RegisterError>,
    ) {
        if self.filters.iter().any(|known| known.key == filter.key) {
            mistakes.push(RegisterError::new("filter", &filter.key, &TWICE));
        } else {
            self.filters.push(Arc::new(filter));
        }
    }

    /// Adds what another server does beyond its items. Its layers would act on the calls of this one, and are a mistake.
    pub(in crate::server) fn merge(&mut self, other: Self, mistakes: &mut Vec<RegisterError>) {
        if !other.layers.is_empty() {
            let reason =
                "a server with layers, or with an extension that has one, cannot be merged";
            mistakes.push(RegisterError::setting("layer", &reason));
        }
        for method in other.methods {
            match self.has_name(&method.name) {
                true => mistakes.push(RegisterError::new("method", &method.name, &TWICE)),
                false => self.methods.push(method),
            }
        }
        for notification in other.notifications {
            let name = &notification.name;
            match self.has_name(name) {
                true => mistakes.push(RegisterError::new("notification", name, &TWICE)),
                false => self.notifications.push(notification),
            }
        }
        for filter in other.filters {
            match self.filters.iter().any(|known| known.key == filter.key) {
                true => mistakes.push(RegisterError::new("filter", &filter.key, &TWICE)),
                false => self.filters.push(filter),
            }
        }
        for extension in other.extensions {
            let name = &extension.name;
            match self.extensions.iter().any(|known| known.name == *name) {
                true => mistakes.push(RegisterError::new("extension", name, &TWICE)),
                false => self.extensions.push(extension),
            }
        }
        for (name, settings) in other.experimental {
            match self.experimental.iter().any(|(known, _)| *known == name) {
                true => mistakes.push(RegisterError::new("capability", &name, &TWICE)),
                false => self.experimental.push((name, settings)),
            }
        }
        self.sends.extend(other.sends);
        self.listers.extend(other.listers);
        self.background.extend(other.background);
        self.list_changed.extend(other.list_changed);
        self.logging |= other.logging;
        self.finds_tools |= other.finds_tools;
        self.change_notifications |= other.change_notifications;
    }

    /// The names of all notifications of the application, each once.
    pub(super) fn notification_names(&self) -> impl Iterator<Item = &str> {
        let received = self.notifications.iter().map(|it| it.name.as_str());
        let sent = self.sends.iter().map(|(name, _)| name.as_str());
        let only_sent = sent.filter(|name| !self.notifications.iter().any(|it| it.name == *name));
        received.chain(only_sent)
    }

    /// Returns true if a method or a notification has this name.
    fn has_name(&self, name: &str) -> bool {
        let mut notifications = self.notifications.iter();
        self.methods.iter().any(|method| method.name == name)
            || notifications.any(|notification| notification.name == name)
    }
}

impl ExtensionRevisions for Settings {
    fn is_off(&self, extension: &str, revision: Revision) -> bool {
        let known = self.extensions.iter().find(|known| known.name == extension);
        known.is_some_and(|known| !known.revisions.contains(revision))
    }

    fn may_send(&self, notification: rpc::Method<'_>, revision: Revision) -> bool {
        let name = notification.name();
        let known = self.sends.iter().find(|(known, _)| name == *known.as_str());
        known.is_none_or(|(_, revisions)| revisions.contains(revision))
    }
}

/// The items on a page, unless it is said.
const PAGE: usize = 1000;
/// Ten times a second is as much as a person sees.
const PROGRESS: Duration = Duration::from_millis(100);
