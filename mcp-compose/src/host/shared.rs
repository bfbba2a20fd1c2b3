//! What the handles of a host, its servers and its requests share.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_async::client::{CallError, Client, RestartPolicy};
use mcp_async::json::RawBuf;
use mcp_async::model::Tool;
use mcp_async::runtime::RuntimeHandle;

use super::approval::{ToolApproval, ToolConsent, digest};
use super::audit::OpenRecord;
use super::builder::HostBuilder;
use super::events::Readers;
use super::hooks::Hooks;
use super::question::CallInfo;
use super::request::Subject;
use super::server::{Server, Source};
use super::state::HostError;
use crate::catalog::Catalog;
use crate::config::Variables;
use crate::digest::Digest;
use crate::watch::Watch;

pub(super) struct Shared {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) runtime: RuntimeHandle,
    pub(super) catalog: Catalog,
    pub(super) restart: RestartPolicy,
    pub(super) variables: Variables,
    pub(super) hooks: Hooks,
    pub(super) readers: Readers,
    servers: Watch<Vec<Arc<Server>>>,
    /// The digests of servers that a person has approved.
    pub(super) approved: Watch<HashSet<Digest>>,
    /// The digests of tools that a person has agreed to, by servers and names there.
    consents: Watch<HashMap<(Arc<str>, String), Digest>>,
    calls: AtomicU64,
}

/// The server that answers for an item.
pub(super) struct Route {
    pub(super) server: Arc<Server>,
    /// The name of the item there.
    pub(super) name: String,
    /// The tool, if it is one.
    pub(super) tool: Option<Arc<Tool>>,
}

impl Shared {
    /// Returns the servers to add, and what they share.
    pub(super) fn new(builder: HostBuilder, runtime: RuntimeHandle) -> (Vec<Source>, Arc<Self>) {
        let catalog = Catalog::with_limits(&runtime, builder.naming, builder.limits);
        let shared = Self {
            name: builder.name,
            version: builder.version,
            runtime,
            catalog,
            restart: builder.restart,
            variables: builder.variables,
            hooks: builder.hooks,
            readers: Readers::default(),
            servers: Watch::default(),
            approved: Watch::default(),
            consents: Watch::default(),
            calls: AtomicU64::new(0),
        };
        (builder.sources, Arc::new(shared))
    }

    /// Adds a server, in the place of the one of its name if there is one, and starts its task.
    pub(super) fn add(self: &Arc<Self>, source: Source) {
        let policy = self
            .hooks
            .policy
            .as_ref()
            .map(|policy| policy(source.name()));
        let server = Arc::new(Server::new(source, policy.unwrap_or_default()));
        let old = self.servers.change(|servers| {
            let old = servers.iter_mut().find(|old| old.name == server.name);
            match old {
                Some(old) => Some(core::mem::replace(old, Arc::clone(&server))),
                None => {
                    servers.push(Arc::clone(&server));
                    None
                }
            }
        });
        self.catalog.declare(&server.name);
        if let Some(old) = &old {
            old.stop();
        }
        let shared = Arc::clone(self);
        self.runtime.spawn(Box::pin(async move {
            if let Some(old) = old {
                // Its items go first.
                old.ended().await;
            }
            server.run(shared).await;
        }));
    }

    pub(super) fn remove(&self, name: &str) -> bool {
        let removed = self.servers.change(|servers| {
            let index = servers.iter().position(|server| &*server.name == name)?;
            Some(servers.remove(index))
        });
        if let Some(server) = &removed {
            server.stop();
            self.catalog.remove(name);
        }
        removed.is_some()
    }

    /// Removes the items of a server that is gone. It keeps its place in the lists unless it was removed.
    pub(super) fn withdraw(&self, server: &Server) {
        match self.server(&server.name) {
            Ok(_) => self.catalog.clear(&server.name),
            Err(_) => self.catalog.remove(&server.name),
        }
    }

    pub(super) fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.read(Clone::clone)
    }

    /// Returns a call under a number of its own.
    pub(super) fn call(&self, subject: Subject, name: &str) -> CallInfo {
        CallInfo {
            id: self.calls.fetch_add(1, Ordering::Relaxed),
            method: subject.method(),
            name: name.to_owned(),
        }
    }

    /// Begins the record of a call or a question.
    pub(super) fn record(&self, server: &Arc<str>, method: &'static str) -> OpenRecord {
        OpenRecord::new(self.hooks.audit.clone(), &self.runtime, server, method)
    }

    /// Returns the server that answers for an item.
    pub(super) async fn route(&self, subject: Subject, name: &str) -> Result<Route, HostError> {
        let unknown = || HostError::UnknownItem(name.to_owned());
        loop {
            let view = self.catalog.view();
            let (server, name, tool) = subject.find(&view, name).ok_or_else(unknown)?;
            let server = self.server(&server)?;
            let has_changed =
                tool.is_some() && self.hooks.approve_tool.is_some() && !server.is_fresh();
            if !has_changed {
                return Ok(Route { server, name, tool });
            }
            // It may be another tool now.
            server.fresh().await;
        }
    }

    /// Calls the server by its client.
    pub(super) async fn called<T>(
        &self,
        server: &Server,
        call: impl AsyncFnOnce(&Client) -> Result<T, CallError>,
    ) -> Result<T, HostError> {
        let client = server.connected()?;
        call(&client).await.map_err(|error| HostError::Call {
            server: Arc::clone(&server.name),
            error: error.into(),
        })
    }

    /// Returns the server of this name.
    pub(super) fn server(&self, name: &str) -> Result<Arc<Server>, HostError> {
        let server = self
            .servers
            .read(|servers| servers.iter().find(|server| &*server.name == name).cloned());
        server.ok_or_else(|| HostError::UnknownServer(name.to_owned()))
    }

    /// Asks a person for the call of a tool, unless the person has agreed to the tool as it is.
    pub(super) async fn approve(
        &self,
        server: &Server,
        exposed_name: &str,
        tool: Arc<Tool>,
        arguments: RawBuf,
    ) -> bool {
        let Some(hook) = &self.hooks.approve_tool else {
            return true;
        };
        let key = (Arc::clone(&server.name), tool.name.clone());
        let seen = digest(&tool);
        let agreed = self.consents.read(|consents| consents.get(&key).copied());
        if agreed == Some(seen) {
            return true;
        }
        let consent = hook(ToolApproval {
            server: Arc::clone(&server.name),
            exposed_name: exposed_name.to_owned(),
            tool,
            arguments,
            digest: seen,
            is_changed: agreed.is_some(),
        });
        match consent.await {
            ToolConsent::Refused => return false,
            ToolConsent::Once => {}
            ToolConsent::WhileUnchanged => {
                self.consents.change(|consents| consents.insert(key, seen));
            }
        }
        // The person may have taken a while.
        server.fresh().await;
        let view = self.catalog.view();
        let now = view.tools().get(exposed_name);
        now.is_some_and(|now| now.server == server.name && digest(&now.item) == seen)
    }

    /// Forgets what a person agreed to at this server.
    pub(super) fn forget_consents(&self, server: &str) {
        self.consents
            .change(|consents| consents.retain(|(of, _), _| &**of != server));
    }
}
