//! What the handles of a host, its servers and its requests share.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_async::client::{CallError, Client, RestartPolicy};
use mcp_async::json::RawBuf;
use mcp_async::model::Tool;
use mcp_async::runtime::RuntimeHandle;

use super::approval::{ToolApproval, ToolConsent, digest};
use super::audit::{HostOutcome, OpenRecord};
use super::builder::HostBuilder;
use super::hooks::Hooks;
use super::server::{Server, Source};
use super::state::{HostError, ServerState};
use crate::catalog::{Catalog, CatalogView};
use crate::config::{ConfigEntry, Variables};
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
    pub(super) servers: Watch<Vec<Arc<Server>>>,
    /// The servers that were removed or replaced, until their tasks are over.
    pub(super) leaving: Watch<Vec<Arc<Server>>>,
    /// The digests of servers that a person has approved.
    approved: Watch<HashSet<Digest>>,
    /// The digests of tools that a person has agreed to, by servers and names there.
    consents: Watch<HashMap<(Arc<str>, String), Digest>>,
    /// The last number of a state or a call.
    numbers: AtomicU64,
}

/// A kind of item that requests are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Tool,
    Prompt,
    Resource,
    /// A template that is completed.
    Template,
}

/// The server of an item, its name there, and the tool if it is one.
type Located = (Arc<str>, String, Option<Arc<Tool>>);

impl Subject {
    fn find(self, view: &CatalogView, name: &str) -> Option<Located> {
        let tool = view.tools().get(name).filter(|_| self == Self::Tool);
        let (server, name) = match self {
            Self::Tool => (&tool?.server, &*tool?.item.name),
            Self::Prompt => view
                .prompts()
                .get(name)
                .map(|it| (&it.server, &*it.item.name))?,
            Self::Resource => (&view.server_of(name)?, name),
            Self::Template => (&view.resource_templates().get(name)?.server, name),
        };
        Some((
            Arc::clone(server),
            name.to_owned(),
            tool.map(|tool| Arc::clone(&tool.item)),
        ))
    }
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
            servers: Watch::default(),
            leaving: Watch::default(),
            approved: Watch::default(),
            consents: Watch::default(),
            numbers: AtomicU64::new(0),
        };
        (builder.sources, Arc::new(shared))
    }

    /// Returns a number that no state and no call has.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Changes the state of a server.
    pub(super) fn enter(&self, server: &Server, state: ServerState) {
        let number = self.number();
        server
            .status
            .change(|status| (status.state, status.number) = (state, number));
        // Wakes those who wait for a state of any server.
        self.servers.change(|_| {});
    }

    /// Removes the items of a server that is gone. It keeps its place in the lists unless it was removed. A server that takes
    /// its place has no items yet: it waits for this one.
    pub(super) fn withdraw(&self, server: &Server) {
        match self.server(&server.name) {
            Ok(_) => self.catalog.clear(&server.name),
            Err(_) => self.catalog.remove(&server.name),
        }
    }

    pub(super) fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.read(Clone::clone)
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
                tool.is_some() && self.hooks.approve_tool.is_some() && server.may_have_changed();
            if !has_changed {
                return Ok(Route { server, name, tool });
            }
            // It may be another tool now.
            server.until(|status| !status.is_stale).await;
        }
    }

    /// Calls the server of an item by its client.
    pub(super) async fn called<T>(
        &self,
        Route { server, name, .. }: &Route,
        method: &'static str,
        call: impl AsyncFnOnce(&Client) -> Result<T, CallError>,
    ) -> Result<T, HostError> {
        let client = server.client()?;
        let record = self.record(&server.name, method).about(name, None);
        let result = call(&client).await;
        record.end(
            result
                .as_ref()
                .map_or_else(HostOutcome::of_error, |_| HostOutcome::Result),
        );
        result.map_err(|error| HostError::call(&server.name, error))
    }

    /// Returns the server of this name.
    pub(super) fn server(&self, name: &str) -> Result<Arc<Server>, HostError> {
        let server = self
            .servers
            .read(|servers| servers.iter().find(|server| &*server.name == name).cloned());
        server.ok_or_else(|| HostError::UnknownServer(name.to_owned()))
    }

    /// Asks a person for a server of a project, unless the person has agreed to it as it is.
    pub(super) async fn approve_server(&self, entry: &Arc<ConfigEntry>) -> bool {
        let digest = entry.digest();
        let Some(hook) = &self.hooks.approve_server else {
            return false;
        };
        let is_approved = self.approved.read(|approved| approved.contains(&digest))
            || hook(Arc::clone(entry)).await;
        if is_approved {
            self.approved.change(|approved| approved.insert(digest));
        }
        is_approved
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
        server.until(|status| !status.is_stale).await;
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
