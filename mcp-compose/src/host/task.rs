//! The task that keeps the connection of a server.

use core::future::pending;
use core::time::Duration;
use std::sync::Arc;

use mcp_async::Client;
use mcp_async::client::{ConnectError, ConnectionState, Subscription, Update};
use mcp_async::runtime::within;

use super::question::builder;
use super::server::{Server, Source};
use super::shared::Shared;
use super::state::{HostError, ServerState};
use crate::catalog::Lists;
use crate::config::{ConfigError, ServerTarget};
use crate::entry::ServerEntry;
use crate::waiting::{either, until};

/// A server, and its host.
pub(super) struct Task {
    pub(super) shared: Arc<Shared>,
    pub(super) server: Arc<Server>,
}

impl Task {
    /// Connects, and keeps the lists in the catalog, until the connection is over or the server is stopped.
    pub(super) async fn run(self) {
        let (shared, server) = (&*self.shared, &*self.server);
        let work = async {
            match self.connect().await {
                Ok(client) => {
                    server
                        .status
                        .change(|status| status.client = Some(client.clone()));
                    self.follow(&client).await;
                    ServerState::Gone
                }
                Err(error) => ServerState::Failed(Arc::new(error)),
            }
        };
        let stop = server.until(|status| status.is_stopping);
        let end = until(stop, work).await.unwrap_or(ServerState::Gone);
        let client = server.status.change(|status| {
            status.is_stale = false;
            status.client.take()
        });
        shared.withdraw(server);
        if let Some(client) = client {
            // How it ends is of no interest any more.
            let _ = within(&shared.runtime, CLOSING, client.close()).await;
        }
        shared.enter(server, end);
        server.status.change(|status| status.has_ended = true);
        let is_other = |other: &Arc<Server>| !Arc::ptr_eq(other, &self.server);
        shared.leaving.change(|leaving| leaving.retain(is_other));
    }

    async fn connect(&self) -> Result<Client, HostError> {
        let (shared, name) = (&*self.shared, &self.server.name);
        let entry = match &self.server.source {
            Source::Entry(entry) => ServerEntry::clone(entry),
            Source::Config {
                entry, of_project, ..
            } => {
                if *of_project && !shared.approve_server(entry).await {
                    return Err(HostError::ServerNotApproved(Arc::clone(name)));
                }
                let resolved = self.resolve().await;
                resolved.map_err(|error| HostError::Config(error.into()))?
            }
        };
        let client = builder(&self.shared, &self.server);
        let connected = entry.connect(&shared.runtime, client).await;
        connected.map_err(|error| HostError::Connect {
            server: Arc::clone(name),
            address: self.server.source.address(),
            error: Box::new(match (error, &self.server.source) {
                // The URL may be in it.
                (ConnectError::Unreachable(text), Source::Config { answers, .. }) => {
                    ConnectError::Unreachable(answers.masked(text))
                }
                (error, _) => error,
            }),
        })
    }

    /// Expands the entry of a file.
    async fn resolve(&self) -> Result<ServerEntry, ConfigError> {
        let (hooks, name) = (&self.shared.hooks, &self.server.name);
        let (entry, answers) = match &self.server.source {
            Source::Entry(entry) => return Ok(ServerEntry::clone(entry)),
            Source::Config { entry, answers, .. } => (entry, answers),
        };
        let mut variables = self.shared.variables.clone();
        if let Some(hook) = &hooks.input {
            for input in entry.inputs() {
                variables = answers.add(variables, input, &**hook).await;
            }
        }
        let target = entry.resolve(&variables)?;
        Ok(match (target, hooks.stderr.clone()) {
            (ServerTarget::Program(program), Some(stderr)) => {
                let of = Arc::clone(name);
                let command = program.command().on_stderr(move |line| stderr(&of, line));
                ServerEntry::program(name, command)
            }
            (target, _) => target.into_entry(name),
        })
    }

    /// Keeps the lists and the state up to date until the connection is over.
    async fn follow(&self, client: &Client) {
        let (shared, server) = (&*self.shared, &*self.server);
        let mut connection = client.connection();
        // What is changed while the lists are read is told afterwards.
        let updates = within(&shared.runtime, SUBSCRIBING, client.changes()).await;
        let mut updates = updates.and_then(Result::ok);
        let mut due = self.refresh(client, Lists::ALL, &mut updates).await;
        shared.enter(server, ServerState::Ready);
        loop {
            let lists = match next(client, connection, &mut updates, due).await {
                Event::Changed(lists) => lists,
                Event::Connection(ConnectionState::Closed) => return,
                Event::Connection(ConnectionState::Reconnecting) => {
                    connection = ConnectionState::Reconnecting;
                    // It may be another server afterwards.
                    server.status.change(|status| status.is_stale = true);
                    shared.enter(server, ServerState::Restarting);
                    due = Lists::NONE;
                    continue;
                }
                Event::Connection(state) => {
                    connection = state;
                    shared.enter(server, ServerState::Ready);
                    Lists::ALL
                }
            };
            due = self.refresh(client, lists, &mut updates).await;
            // A server that changes its lists all the time does not take all of the time of this process.
            let collecting = self.collect(&mut due, &mut updates);
            let _: Option<()> = within(&shared.runtime, PAUSE, collecting).await;
        }
    }

    /// Reads these lists. Returns those that changed meanwhile.
    async fn refresh(
        &self,
        client: &Client,
        lists: Lists,
        updates: &mut Option<Subscription>,
    ) -> Lists {
        let (shared, server) = (&*self.shared, &*self.server);
        server
            .status
            .change(|status| status.is_stale |= lists.tools);
        let mut changed = Lists::NONE;
        let refreshed = shared.catalog.refresh(&server.name, client, lists);
        for error in either(refreshed, self.collect(&mut changed, updates)).await {
            // The tools may be others now than those that a person agreed to.
            shared.forget_consents(&server.name);
            if let Some(hook) = &shared.hooks.list_error {
                hook(error);
            }
        }
        server
            .status
            .change(|status| status.is_stale &= !lists.tools || changed.tools);
        changed
    }

    /// Notes the lists that change, without an end: until it is dropped.
    async fn collect<T>(&self, lists: &mut Lists, updates: &mut Option<Subscription>) -> T {
        loop {
            *lists = lists.with(Lists::from(&next_update(updates).await));
            self.server
                .status
                .change(|status| status.is_stale |= lists.tools);
        }
    }
}

enum Event {
    Connection(ConnectionState),
    Changed(Lists),
}

/// Returns the next change of the connection or of lists. Those that are `due` have changed already.
async fn next(
    client: &Client,
    seen: ConnectionState,
    updates: &mut Option<Subscription>,
    due: Lists,
) -> Event {
    let connection = async { Event::Connection(client.connection_change(seen).await) };
    let changed = async {
        Event::Changed(match due.is_empty() {
            true => Lists::from(&next_update(updates).await),
            false => due,
        })
    };
    either(connection, changed).await
}

/// Returns the next update. Without a subscription, or after its end, there is none, ever.
async fn next_update(updates: &mut Option<Subscription>) -> Update {
    if let Some(subscription) = updates {
        match subscription.next().await {
            Some(update) => return update,
            None => *updates = None,
        }
    }
    pending().await
}

/// The time to subscribe to changes of lists, without which a server can be used, too.
const SUBSCRIBING: Duration = Duration::from_secs(10);
/// The shortest time between two readings of the lists of one server.
const PAUSE: Duration = Duration::from_millis(100);
/// The time for the orderly end of a connection: a child process has its own, which is shorter.
const CLOSING: Duration = Duration::from_secs(30);
