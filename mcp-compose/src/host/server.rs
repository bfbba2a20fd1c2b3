//! One server of a host.

use std::sync::Arc;

use mcp_async::Client;
use mcp_async::client::ConnectionState;

use super::answers::Answers;
use super::context::CallInfo;
use super::policy::ServerPolicy;
use super::state::{HostError, ServerState, ServerStatus};
use crate::config::{Config, ConfigEntry};
use crate::entry::ServerEntry;
use crate::watch::Watch;

/// Where a server comes from.
#[derive(Clone)]
pub(super) enum Source {
    Entry(Box<ServerEntry>),
    Config {
        entry: Arc<ConfigEntry>,
        /// True if a person has to approve it.
        of_project: bool,
        answers: Arc<Answers>,
    },
}

pub(super) struct Server {
    pub(super) name: Arc<str>,
    pub(super) policy: ServerPolicy,
    pub(super) source: Source,
    pub(super) status: Watch<Status>,
}

pub(super) struct Status {
    pub(super) state: ServerState,
    /// The number of the state: each has another.
    pub(super) number: u64,
    pub(super) client: Option<Client>,
    /// The calls of the host that run.
    calls: Vec<Arc<CallInfo>>,
    /// True if the server has notified that its tools changed, or was started again, and they are not read yet.
    pub(super) is_stale: bool,
    pub(super) is_stopping: bool,
    /// True if the task is over.
    pub(super) has_ended: bool,
}

impl Source {
    pub(super) fn of_config(config: &Config, of_project: bool) -> impl Iterator<Item = Self> {
        let answers = Arc::<Answers>::default();
        config.entries().iter().map(move |entry| Self::Config {
            entry: Arc::new(entry.clone()),
            of_project,
            answers: Arc::clone(&answers),
        })
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Entry(entry) => entry.name(),
            Self::Config { entry, .. } => entry.name(),
        }
    }

    /// Returns the address for messages. That of a file is not expanded: it may have secrets afterwards.
    pub(super) fn address(&self) -> String {
        let address = match self {
            Self::Entry(entry) => entry.address(),
            Self::Config { entry, .. } => entry.address(),
        };
        address.into_owned()
    }

    pub(super) fn is_disabled(&self) -> bool {
        match self {
            Self::Entry(entry) => entry.is_disabled(),
            Self::Config { entry, .. } => entry.is_disabled(),
        }
    }
}

impl Server {
    pub(super) fn new(source: Source, policy: ServerPolicy, number: u64) -> Self {
        Self {
            name: source.name().into(),
            policy,
            source,
            status: Watch::new(Status {
                state: ServerState::Connecting,
                number,
                client: None,
                calls: Vec::new(),
                is_stale: false,
                is_stopping: false,
                has_ended: false,
            }),
        }
    }

    /// Returns what a program sees of the server, and the number of the state.
    pub(super) fn status(&self) -> (u64, ServerStatus) {
        self.status.read(|status| {
            let shown = ServerStatus {
                name: Arc::clone(&self.name),
                address: self.source.address(),
                state: status.state.clone(),
            };
            (status.number, shown)
        })
    }

    /// Returns the client, also between two connections.
    pub(super) fn client(&self) -> Result<Client, HostError> {
        let client = self.status.read(|status| status.client.clone());
        client.ok_or_else(|| HostError::NotConnected(Arc::clone(&self.name)))
    }

    /// Returns true if the tools may be others than those that were read. They are read again then.
    pub(super) fn may_have_changed(&self) -> bool {
        let is_between = |client: Client| client.connection() == ConnectionState::Reconnecting;
        if self.client().is_ok_and(is_between) {
            self.status.change(|status| status.is_stale = true);
        }
        self.status.read(|status| status.is_stale)
    }

    /// Resolves when this holds.
    pub(super) async fn until(&self, holds: impl Fn(&Status) -> bool) {
        self.status.find(|status| holds(status).then_some(())).await;
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

    /// Counts a call among those that run, until it is dropped.
    pub(super) fn begin_call(&self, call: CallInfo) -> RunningCall<'_> {
        let call = Arc::new(call);
        self.status
            .change(|status| status.calls.push(Arc::clone(&call)));
        RunningCall { server: self, call }
    }
}

/// A call that is among those of its server.
pub(super) struct RunningCall<'s> {
    server: &'s Server,
    pub(super) call: Arc<CallInfo>,
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        let is_other = |other: &Arc<CallInfo>| !Arc::ptr_eq(other, &self.call);
        self.server
            .status
            .change(|status| status.calls.retain(is_other));
    }
}
