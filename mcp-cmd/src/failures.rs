//! What goes wrong in the library, as the end of this program.

use super::exit::{Exit, Failure};
use mcp_tokio::client::{CallError, ConnectError};
use mcp_tokio::skills::LoadError;
use mcp_tokio::{ErrorChain, SpawnError};

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let exit = match &error {
            CallError::Server(_) => Exit::Server,
            CallError::Timeout => Exit::Timeout,
            _ => Exit::Other,
        };
        let failure = Self::new(exit, ErrorChain(&error));
        match error {
            CallError::Server(reply) => Self {
                reply: Some(reply),
                ..failure
            },
            _ => failure,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Call(error) => error.into(),
            other => Self::new(Exit::Other, ErrorChain(&other)),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let exit = match &error {
            ConnectError::Timeout => Exit::Timeout,
            _ => Exit::Connect,
        };
        let failure = Self::new(exit, format_args!("no connection: {}", ErrorChain(&error)));
        match error {
            ConnectError::Refused(reply) => Self {
                reply: Some(reply),
                ..failure
            },
            _ => failure,
        }
    }
}

impl From<SpawnError> for Failure {
    fn from(error: SpawnError) -> Self {
        match error {
            SpawnError::Connect(error) => error.into(),
            other => Self::new(Exit::Connect, ErrorChain(&other)),
        }
    }
}
