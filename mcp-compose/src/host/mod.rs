//! A host: a program with clients of several servers.

mod answers;
mod approval;
mod audit;
mod builder;
mod context;
mod hooks;
mod limiter;
mod policy;
mod question;
mod request;
mod server;
mod shared;
mod state;
mod state_changes;
mod task;

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_async::Payload;
use mcp_async::client::{CallError, Client, Subscription};
use mcp_async::model::{
    CallToolResult, Completion, GetPromptResult, ReadResourceResult, Reference,
};
use mcp_async::runtime::RuntimeHandle;
use serde::de::DeserializeOwned;

pub use self::approval::{ToolApproval, ToolConsent};
pub use self::audit::{HostOutcome, HostRecord};
pub use self::builder::HostBuilder;
pub use self::context::{CallInfo, QuestionContext};
pub use self::policy::ServerPolicy;
pub use self::request::HostRequest;
pub use self::state::{HostError, ServerState, ServerStatus};
pub use self::state_changes::StateChanges;

use self::request::RequestKind;
use self::server::{Server, Source};
use self::shared::{Shared, Subject};
use self::task::Task;
use crate::catalog::{CatalogChanges, CatalogView};
use crate::config::Config;
use crate::entry::ServerEntry;
use crate::instructions;

/// Clients of several servers, which look like one: cheap to clone, usable from any task.
///
/// It connects to all servers at once, keeps their lists in one [view](Self::view), sends each call to the server that has
/// the item, and answers what servers ask in one place. A server learns nothing of the others. One that fails, floods or
/// does not answer does not hold the others up: [`servers`](Self::servers) and [`state_changes`](Self::state_changes) tell its state.
///
/// The host ends with its last clone, or when it is [closed](Self::close).
///
/// Of a hostile server it holds what a client holds (a line of at most 16 MiB, answers that are not read of at most 64 MiB,
/// 8 MiB of results that are cached), its items within the [`CatalogLimits`](crate::CatalogLimits). [`HostBuilder::client`] sets the former.
///
/// ```
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_compose::{Config, Host};
/// use std::collections::HashMap;
///
/// async fn run(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
///     let host = Host::builder("desk", "1.0")
///         .config(&Config::read("mcp.json")?)
///         .start(runtime);
///     host.ready().await;
///     for server in host.servers() {
///         println!("{}: {:?}", server.name, server.state);
///     }
///     for tool in host.view().tools() {
///         println!("{}: {}", tool.exposed_name, tool.item.description.as_deref().unwrap_or_default());
///     }
///     let found = host.call_tool("notes__search", &HashMap::from([("words", "tea")])).await;
///     host.close().await;
///     println!("{}", found?.text());
///     Ok(())
/// }
/// # let _ = run;
/// ```
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    /// The last one ends the servers.
    _stop: Arc<Stop>,
}

/// Ends the servers when it is dropped.
struct Stop(Arc<Shared>);

impl Host {
    /// Returns the settings of a host, whose name and version its servers are told.
    pub fn builder(name: &str, version: &str) -> HostBuilder {
        HostBuilder::new(name, version)
    }

    /// Adds a server, or puts it in the place of the one of its name, and begins to connect to it. One that is disabled only removes
    /// the one of its name.
    pub fn add(&self, entry: ServerEntry) {
        if entry.is_disabled() {
            self.remove(entry.name());
            return;
        }
        self.start(Source::Entry(entry.into()));
    }

    /// Takes a configuration file that has changed: adds its servers, puts those that differ in the place of those of their
    /// names, and removes those that came from a file and are not in it any more. Servers that do not differ continue.
    /// A name of a server that came from elsewhere is not taken from it: a file of a project replaces no server of the user.
    ///
    /// Entries of a file of a project need a new approval if their [digest](crate::ConfigEntry::digest) has changed.
    pub fn reload(&self, config: &Config, of_project: bool) {
        let mut known = HashMap::new();
        for server in self.shared.servers() {
            if let Source::Config {
                entry,
                of_project: of,
                ..
            } = &server.source
                && *of == of_project
            {
                known.insert(Arc::clone(&server.name), entry.digest());
            }
        }
        for source in Source::of_config(config, of_project) {
            let Source::Config { entry, .. } = &source else {
                continue;
            };
            if entry.is_disabled() {
                continue;
            }
            let is_wanted = match known.remove(source.name()) {
                Some(digest) => digest != entry.digest(),
                None => self.shared.server(source.name()).is_err(),
            };
            if is_wanted {
                self.start(source);
            }
        }
        for gone in known.keys() {
            self.remove(gone);
        }
    }

    /// Adds a server, in the place of the one of its name if there is one, and starts its task.
    fn start(&self, source: Source) {
        let shared = Arc::clone(&self.shared);
        let policy = shared
            .hooks
            .policy
            .as_ref()
            .map(|policy| policy(source.name()));
        let number = shared.number();
        let server = Arc::new(Server::new(source, policy.unwrap_or_default(), number));
        let old = shared.servers.change(|servers| {
            let old = servers.iter_mut().find(|old| old.name == server.name);
            match old {
                Some(old) => Some(core::mem::replace(old, Arc::clone(&server))),
                None => {
                    servers.push(Arc::clone(&server));
                    None
                }
            }
        });
        self.leave(old);
        shared.catalog.declare(&server.name);
        let mut before = shared.leaving.read(Clone::clone);
        before.retain(|before| before.name == server.name);
        let runtime = shared.runtime.clone();
        runtime.spawn(Box::pin(async move {
            for before in before {
                // Its items go first.
                before.until(|status| status.has_ended).await;
            }
            Task { shared, server }.run().await;
        }));
    }

    /// Ends a server that is not in the list any more.
    fn leave(&self, server: Option<Arc<Server>>) {
        if let Some(server) = server {
            server.stop();
            self.shared.leaving.change(|leaving| {
                // Its task takes it out after it has noted its end.
                if !server.status.read(|status| status.has_ended) {
                    leaving.push(server);
                }
            });
        }
    }

    /// Connects to a server again from the start: to one that failed, or is gone.
    ///
    /// # Errors
    /// [`HostError::UnknownServer`]
    pub fn reconnect(&self, server: &str) -> Result<(), HostError> {
        let source = self.shared.server(server)?.source.clone();
        self.start(source);
        Ok(())
    }

    /// Removes a server: its items are no longer listed, its calls end, and its program is shut down. Returns whether there
    /// was one.
    pub fn remove(&self, server: &str) -> bool {
        let removed = self.shared.servers.change(|servers| {
            let index = servers.iter().position(|it| &*it.name == server)?;
            Some(servers.remove(index))
        });
        let was_there = removed.is_some();
        if was_there {
            self.leave(removed);
            self.shared.catalog.remove(server);
        }
        was_there
    }

    /// Returns all servers, in the order in which they were added.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let servers = self.shared.servers();
        servers.iter().map(|server| server.status().1).collect()
    }

    /// Resolves when each server is ready or has failed. Those that are ready can be used before.
    pub async fn ready(&self) {
        for server in self.shared.servers() {
            server
                .until(|status| !matches!(status.state, ServerState::Connecting))
                .await;
        }
    }

    /// Returns the changes of the states of servers from now on.
    pub fn state_changes(&self) -> StateChanges {
        StateChanges::new(&self.shared)
    }

    /// Returns the lists of all servers as they are now.
    pub fn view(&self) -> Arc<CatalogView> {
        self.shared.catalog.view()
    }

    /// Returns the changes of the lists from now on.
    pub fn changes(&self) -> CatalogChanges {
        self.shared.catalog.changes()
    }

    /// Returns the instructions of the servers that are ready, for a model to read: each under the name of its server, with
    /// every line marked as a quotation, at most 8 KiB of each and 64 KiB of all. They are claims of the servers.
    pub fn instructions(&self) -> String {
        let all = self.shared.servers().into_iter().filter_map(|server| {
            let text = server.client().ok()?.info().instructions.clone()?;
            Some((Arc::clone(&server.name), text))
        });
        let all: Vec<_> = all.collect();
        instructions::join(all.iter().map(|(server, text)| (&**server, &**text)))
    }

    /// Returns the client of a server, for what only that server has: tasks, extensions, methods of its own. What is called
    /// by it is neither approved nor recorded.
    ///
    /// # Errors
    /// [`HostError::UnknownServer`], [`HostError::NotConnected`]
    pub fn client(&self, server: &str) -> Result<Client, HostError> {
        self.shared.server(server)?.client()
    }

    /// Calls a tool by its exposed name; see [`Client::call_tool`].
    pub fn call_tool<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> HostRequest<'a, CallToolResult> {
        let kind = RequestKind {
            subject: Subject::Tool,
            method: "tools/call",
            make: Client::call_tool,
            outcome: |result| match result.is_error {
                true => HostOutcome::ToolError,
                false => HostOutcome::Result,
            },
        };
        HostRequest::new(&self.shared, kind, name, arguments)
    }

    /// Calls a tool and returns its structured content, decoded; see [`Client::call_tool_as`].
    pub fn call_tool_as<'a, T: DeserializeOwned>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> HostRequest<'a, T> {
        let kind = RequestKind {
            subject: Subject::Tool,
            method: "tools/call",
            make: Client::call_tool_as,
            outcome: |_| HostOutcome::Result,
        };
        HostRequest::new(&self.shared, kind, name, arguments)
    }

    /// Fills in a prompt by its exposed name; see [`Client::get_prompt`].
    pub fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> HostRequest<'a, GetPromptResult> {
        let kind = RequestKind {
            subject: Subject::Prompt,
            method: "prompts/get",
            make: Client::get_prompt,
            outcome: |_| HostOutcome::Result,
        };
        HostRequest::new(&self.shared, kind, name, arguments)
    }

    /// Reads a resource of the server that lists its URI, else of one with a template that matches; see
    /// [`Client::read_resource`].
    pub fn read_resource<'a>(&'a self, uri: &'a str) -> HostRequest<'a, ReadResourceResult> {
        let kind = RequestKind {
            subject: Subject::Resource,
            method: "resources/read",
            make: |client, uri, _| client.read_resource(uri),
            outcome: |_| HostOutcome::Result,
        };
        HostRequest::new(&self.shared, kind, uri, &())
    }

    /// Listens to changes of a resource of the server that answers for its URI; see [`Client::subscribe`].
    ///
    /// # Errors
    /// [`HostError::UnknownItem`], [`HostError::NotConnected`], [`HostError::Call`]
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, HostError> {
        let route = self.shared.route(Subject::Resource, uri).await?;
        let subscribe = async |client: &Client| client.subscribe(uri).await;
        self.shared
            .called(&route, "resources/subscribe", subscribe)
            .await
    }

    /// Suggests values for an argument of a prompt, by its exposed name, or for a variable of a template; `context` has the
    /// arguments before it. See [`Client::complete`].
    ///
    /// # Errors
    /// [`HostError::UnknownItem`], [`HostError::NotConnected`], [`HostError::Call`]
    pub async fn complete(
        &self,
        reference: &Reference,
        argument: &str,
        value: &str,
        context: &[(&str, &str)],
    ) -> Result<Completion, HostError> {
        let mut reference = reference.clone();
        let route = match &mut reference {
            Reference::Prompt(prompt) => {
                let route = self.shared.route(Subject::Prompt, &prompt.name).await?;
                prompt.name.clone_from(&route.name);
                route
            }
            Reference::Resource(resource) => {
                self.shared.route(Subject::Template, &resource.uri).await?
            }
            Reference::Other(_) => return Err(HostError::UnknownItem(argument.to_owned())),
        };
        let complete = async |client: &Client| -> Result<Completion, CallError> {
            client
                .complete(&reference, argument, value)
                .context(context)
                .await
        };
        self.shared
            .called(&route, "completion/complete", complete)
            .await
    }

    /// Ends all connections, and the programs that were started; resolves when that is done.
    pub async fn close(&self) {
        let servers = self.shared.servers();
        servers.iter().for_each(|server| server.stop());
        for server in servers
            .into_iter()
            .chain(self.shared.leaving.read(Clone::clone))
        {
            server.until(|status| status.has_ended).await;
        }
    }
}

impl HostBuilder {
    /// Starts the host: begins to connect to all servers at once, in tasks of the runtime.
    pub fn start(self, runtime: impl Into<RuntimeHandle>) -> Host {
        let (sources, shared) = Shared::new(self, runtime.into());
        let _stop = Arc::new(Stop(Arc::clone(&shared)));
        let host = Host { shared, _stop };
        for source in sources {
            let is_known = host.shared.server(source.name()).is_ok();
            if !is_known && !source.is_disabled() {
                host.start(source);
            }
        }
        host
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.servers().iter().for_each(|server| server.stop());
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
