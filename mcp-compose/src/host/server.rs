//! One server of a host, and the task that keeps its connection.

use core::future::{pending, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use mcp_async::Client;
use mcp_async::client::{ConnectionState, Subscription, Update};
use mcp_async::runtime::within;

use super::answers::Answers;
use super::approval::ServerApproval;
use super::events::HostEvent;
use super::policy::ServerPolicy;
use super::question::{CallInfo, builder};
use super::shared::Shared;
use super::state::{HostError, ServerState, ServerStatus};
use crate::catalog::Lists;
use crate::config::{Config, ConfigEntry, ConfigError, ServerTarget};
use crate::entry::ServerEntry;
use crate::watch::Watch;

/// Where a server comes from.
#[derive(Clone)]
pub(super) enum Source {
    Entry(ServerEntry),
    Config {
        entry: Arc<ConfigEntry>,
        /// True if a person has to approve it.
        of_project: bool,
        answers: Arc<Answers>,
    },
    /// An entry of a file that is wrong.
    Wrong(String, ConfigError),
}

pub(super) struct Server {
    pub(super) name: Arc<str>,
    pub(super) policy: ServerPolicy,
    pub(super) source: Source,
    status: Watch<Status>,
}

struct Status {
    state: ServerState,
    client: Option<Client>,
    address: Option<String>,
    /// The calls of the host that run.
    calls: Vec<Arc<CallInfo>>,
    /// True if the server has notified that its tools changed, and they are not read yet.
    is_stale: bool,
    is_stopping: bool,
    /// True if the task is over.
    has_ended: bool,
}

impl Source {
    pub(super) fn of_config(config: &Config, of_project: bool) -> impl Iterator<Item = Self> {
        let answers = Arc::<Answers>::default();
        let entries = config.entries().iter().map(move |entry| Self::Config {
            entry: Arc::new(entry.clone()),
            of_project,
            answers: Arc::clone(&answers),
        });
        let errors = config
            .errors()
            .iter()
            .filter_map(|error| Some(Self::Wrong(error.server()?.to_owned(), error.clone())));
        entries.chain(errors)
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Entry(entry) => entry.name(),
            Self::Config { entry, .. } => entry.name(),
            Self::Wrong(name, _) => name,
        }
    }

    /// Returns whether it is of a file of a project, or of one of the user.
    pub(super) const fn is_of_file(&self, project: bool) -> bool {
        matches!(self, Self::Config { of_project, .. } if *of_project == project)
    }

    /// Returns whether both are entries of files that lead to one server in one way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Config {
                    entry, of_project, ..
                },
                Self::Config {
                    entry: other,
                    of_project: of_other,
                    ..
                },
            ) => entry.digest() == other.digest() && of_project == of_other,
            _ => false,
        }
    }

    pub(super) fn is_disabled(&self) -> bool {
        match self {
            Self::Entry(entry) => entry.is_disabled(),
            Self::Config { entry, .. } => entry.is_disabled(),
            Self::Wrong(..) => false,
        }
    }
}

impl Server {
    pub(super) fn new(source: Source, policy: ServerPolicy) -> Self {
        Self {
            name: source.name().into(),
            policy,
            source,
            status: Watch::new(Status {
                state: ServerState::Connecting,
                client: None,
                address: None,
                calls: Vec::new(),
                is_stale: false,
                is_stopping: false,
                has_ended: false,
            }),
        }
    }

    /// Returns what a program sees of the server.
    pub(super) fn status(&self) -> ServerStatus {
        let display_name = match &self.source {
            Source::Entry(entry) => entry.display_name(),
            source => source.name(),
        };
        self.status.read(|status| ServerStatus {
            name: Arc::clone(&self.name),
            display_name: display_name.to_owned(),
            address: status.address.clone(),
            state: status.state.clone(),
        })
    }

    /// Returns the client, also between two connections.
    pub(super) fn client(&self) -> Option<Client> {
        self.status.read(|status| status.client.clone())
    }

    /// Resolves when the server has connected, or will not.
    pub(super) async fn settled(&self) {
        let is_settled =
            |status: &Status| (!matches!(status.state, ServerState::Connecting)).then_some(());
        self.status.find(is_settled).await;
    }

    /// Returns the client.
    pub(super) fn connected(&self) -> Result<Client, HostError> {
        let not_connected = || HostError::NotConnected(Arc::clone(&self.name));
        self.client().ok_or_else(not_connected)
    }

    /// Returns whether the tools that are listed are those that the server has, as far as it has notified.
    pub(super) fn is_fresh(&self) -> bool {
        self.status.read(|status| !status.is_stale)
    }

    /// Resolves when the tools that are listed are those that the server has, as far as it has notified.
    pub(super) async fn fresh(&self) {
        self.status
            .find(|status| (!status.is_stale).then_some(()))
            .await;
    }

    /// Resolves when the task is over.
    pub(super) async fn ended(&self) {
        self.status
            .find(|status| status.has_ended.then_some(()))
            .await;
    }

    /// Asks the task to end.
    pub(super) fn stop(&self) {
        self.status.change(|status| status.is_stopping = true);
    }

    /// Returns the call that runs, if there is exactly one.
    pub(super) fn only_call(&self) -> Option<Arc<CallInfo>> {
        self.status.read(|status| match &*status.calls {
            [call] => Some(Arc::clone(call)),
            _ => None,
        })
    }

    pub(super) fn begin_call(&self, call: &Arc<CallInfo>) {
        self.status
            .change(|status| status.calls.push(Arc::clone(call)));
    }

    pub(super) fn end_call(&self, call: &Arc<CallInfo>) {
        self.status
            .change(|status| status.calls.retain(|other| !Arc::ptr_eq(other, call)));
    }

    fn enter(&self, shared: &Shared, state: ServerState) {
        self.status.change(|status| status.state = state.clone());
        shared
            .readers
            .send(&HostEvent::State(Arc::clone(&self.name), state));
    }

    /// Connects, and keeps the lists in the catalog, until the connection is over or the server is stopped.
    pub(super) async fn run(self: Arc<Self>, shared: Arc<Shared>) {
        self.enter(&shared, ServerState::Connecting);
        let work = async {
            match self.connect(&shared).await {
                Ok(client) => {
                    self.status
                        .change(|status| status.client = Some(client.clone()));
                    self.follow(&shared, &client).await;
                    ServerState::Gone
                }
                Err(error) => ServerState::Failed(Arc::new(error)),
            }
        };
        let stopped = self.status.find(|status| status.is_stopping.then_some(()));
        let end = unless(stopped, work).await.unwrap_or(ServerState::Gone);
        let client = self.status.change(|status| {
            status.is_stale = false;
            status.client.take()
        });
        shared.withdraw(&self);
        if let Some(client) = client {
            // How it ends is of no interest any more.
            let _ = within(&shared.runtime, CLOSING, client.close()).await;
        }
        self.enter(&shared, end);
        self.status.change(|status| status.has_ended = true);
    }

    async fn connect(self: &Arc<Self>, shared: &Arc<Shared>) -> Result<Client, HostError> {
        let entry = match &self.source {
            Source::Entry(entry) => entry.clone(),
            Source::Config {
                entry,
                of_project,
                answers,
            } => {
                if *of_project && !self.is_approved(shared, entry).await {
                    return Err(HostError::ServerNotApproved(Arc::clone(&self.name)));
                }
                let resolved = self.resolve(shared, entry, answers).await;
                resolved.map_err(|error| HostError::Config(error.into()))?
            }
            Source::Wrong(_, error) => return Err(HostError::Config(error.clone().into())),
        };
        let address = entry.address().into_owned();
        self.status
            .change(|status| status.address = Some(address.clone()));
        let connected = entry.connect(&shared.runtime, builder(shared, self)).await;
        connected.map_err(|error| HostError::Connect {
            server: Arc::clone(&self.name),
            address,
            error: error.into(),
        })
    }

    async fn is_approved(&self, shared: &Shared, entry: &Arc<ConfigEntry>) -> bool {
        let digest = entry.digest();
        if shared.approved.read(|approved| approved.contains(&digest)) {
            return true;
        }
        let Some(hook) = &shared.hooks.approve_server else {
            return false;
        };
        let is_approved = hook(ServerApproval::new(Arc::clone(entry))).await;
        if is_approved {
            shared.approved.change(|approved| approved.insert(digest));
        }
        is_approved
    }

    async fn resolve(
        &self,
        shared: &Shared,
        entry: &ConfigEntry,
        answers: &Answers,
    ) -> Result<ServerEntry, ConfigError> {
        let mut variables = shared.variables.clone();
        if let Some(hook) = &shared.hooks.input {
            for input in entry.inputs() {
                variables = answers.add(variables, input, &**hook).await;
            }
        }
        let target = entry.resolve(&variables)?;
        let ServerTarget::Program(program) = target else {
            return Ok(target.into_entry(&self.name));
        };
        let mut command = program.command();
        if let Some(stderr) = shared.hooks.stderr.clone() {
            let name = Arc::clone(&self.name);
            command = command.on_stderr(move |line| stderr(&name, line));
        }
        Ok(ServerEntry::program(&self.name, command))
    }

    /// Keeps the lists and the state up to date until the connection is over.
    async fn follow(&self, shared: &Shared, client: &Client) {
        let mut connection = client.connection();
        // What is changed while the lists are read is told afterwards.
        let updates = within(&shared.runtime, SUBSCRIBING, client.changes()).await;
        let mut updates = updates.and_then(Result::ok);
        self.refresh(shared, client, Lists::ALL).await;
        self.enter(shared, ServerState::Ready);
        loop {
            let lists = match next(client, connection, &mut updates).await {
                Event::Connection(state) => {
                    connection = state;
                    match state {
                        ConnectionState::Closed => return,
                        ConnectionState::Reconnecting => {
                            self.enter(shared, ServerState::Restarting);
                            Lists::NONE
                        }
                        _ => {
                            self.enter(shared, ServerState::Ready);
                            // A subscription tells it too, and later.
                            if updates.is_none() {
                                Lists::ALL
                            } else {
                                Lists::NONE
                            }
                        }
                    }
                }
                Event::Update(update) => Lists::from(&update),
            };
            self.refresh(shared, client, lists).await;
            if !lists.is_empty() {
                let lists = self.pause(shared, &mut updates).await;
                self.refresh(shared, client, lists).await;
            }
        }
    }

    async fn refresh(&self, shared: &Shared, client: &Client, lists: Lists) {
        if lists.is_empty() {
            return;
        }
        self.status.change(|status| status.is_stale |= lists.tools);
        for error in shared.catalog.refresh(&self.name, client, lists).await {
            // The tools may be others now than those that a person agreed to.
            shared.forget_consents(&self.name);
            let error = HostEvent::ListError(Arc::clone(&self.name), Arc::new(error));
            shared.readers.send(&error);
        }
        if lists.tools {
            self.status.change(|status| status.is_stale = false);
        }
    }

    /// Waits before the lists are read again, so that a server that changes them all the time does not take all of the
    /// time of this process. Returns the lists that changed meanwhile.
    async fn pause(&self, shared: &Shared, updates: &mut Option<Subscription>) -> Lists {
        let mut lists = Lists::NONE;
        let collecting = async {
            loop {
                let update = next_update(updates).await;
                lists = lists.with(Lists::from(&update));
                self.status.change(|status| status.is_stale |= lists.tools);
            }
        };
        within(&shared.runtime, PAUSE, collecting).await;
        lists
    }
}

enum Event {
    Connection(ConnectionState),
    Update(Update),
}

/// Returns the next change of the connection, or the next update.
async fn next(client: &Client, seen: ConnectionState, updates: &mut Option<Subscription>) -> Event {
    let mut connection = pin!(client.connection_change(seen));
    let mut update = pin!(next_update(updates));
    poll_fn(|cx| {
        if let Poll::Ready(state) = connection.as_mut().poll(cx) {
            return Poll::Ready(Event::Connection(state));
        }
        match update.as_mut().poll(cx) {
            Poll::Ready(update) => Poll::Ready(Event::Update(update)),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
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

/// Returns the output of the work, unless it is stopped before.
async fn unless<T>(stop: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut stop, mut work) = (pin!(stop), pin!(work));
    poll_fn(|cx| match stop.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(cx).map(Some),
    })
    .await
}

/// The time to subscribe to changes of lists, without which a server can be used, too.
const SUBSCRIBING: Duration = Duration::from_secs(10);
/// The shortest time between two readings of the lists of one server.
const PAUSE: Duration = Duration::from_millis(100);
/// The time for the orderly end of a connection: a child process has its own, which is shorter.
const CLOSING: Duration = Duration::from_secs(30);
