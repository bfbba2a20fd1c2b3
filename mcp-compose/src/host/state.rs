//! The states of a server, and the errors of a host.

use core::error::Error;
use core::fmt;
use std::sync::Arc;

use mcp_async::client::{CallError, ConnectError};

use crate::config::ConfigError;

/// The state of a server of a [`Host`](super::Host).
///
/// ```text
/// Connecting --> Ready <--> Restarting
///     |            `----------`--> Gone
///     `--> Failed
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerState {
    /// It is being approved, started and connected to, and its lists are read.
    Connecting,
    /// It answers, and its lists are in the catalog.
    Ready,
    /// It could not be connected to.
    Failed(Arc<HostError>),
    /// Its connection has ended, and another is to follow.
    Restarting,
    /// Its connection is over for good: it was removed, or no attempt to connect again was successful. Its items are not
    /// listed any more.
    Gone,
}

/// A server, as a host shows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name that the program or the file gives it.
    pub name: Arc<str>,
    /// The program, or the URL without what may be secret. Of an entry of a file, it is not expanded.
    pub address: String,
    /// The state.
    pub state: ServerState,
}

/// Reasons for which a host does not do what it is asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostError {
    /// No server lists an item of this name, or answers for this URI.
    UnknownItem(String),
    /// There is no server of this name.
    UnknownServer(String),
    /// The server has no connection. Nothing was sent.
    NotConnected(Arc<str>),
    /// The server, which a file of a project names, is not approved. Nothing was started, and no variable was read.
    ServerNotApproved(Arc<str>),
    /// The call of the tool is not approved. Nothing was sent.
    ToolNotApproved {
        /// The server.
        server: Arc<str>,
        /// The exposed name of the tool.
        tool: String,
    },
    /// The entry of the server cannot be used.
    Config(Box<ConfigError>),
    /// The server could not be connected to.
    Connect {
        /// The server.
        server: Arc<str>,
        /// The program, or the URL without what may be secret.
        address: String,
        /// The reason.
        error: Box<ConnectError>,
    },
    /// The call has no result.
    Call {
        /// The server.
        server: Arc<str>,
        /// The reason.
        error: Box<CallError>,
    },
}

impl HostError {
    pub(super) fn call(server: &Arc<str>, error: CallError) -> Self {
        Self::Call {
            server: Arc::clone(server),
            error: error.into(),
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownItem(name) => write!(f, "no server has {name:?}"),
            Self::UnknownServer(name) => write!(f, "there is no server {name:?}"),
            Self::NotConnected(server) => write!(f, "{server}: the server is not connected"),
            Self::ServerNotApproved(server) => write!(f, "{server}: the server is not approved"),
            Self::ToolNotApproved { server, tool } => {
                write!(f, "{server}: the call of {tool} is not approved")
            }
            Self::Config(error) => error.fmt(f),
            Self::Connect {
                server,
                address,
                error,
            } => write!(f, "{server}: cannot connect to {address}: {error}"),
            Self::Call { server, error } => write!(f, "{server}: {error}"),
        }
    }
}

impl Error for HostError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Config(error) => error.source(),
            Self::Connect { error, .. } => error.source(),
            Self::Call { error, .. } => error.source(),
            _ => None,
        }
    }
}
