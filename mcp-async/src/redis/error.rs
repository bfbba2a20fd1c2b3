//! Why a command had no result.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use crate::http::StoreError;

/// Why a command had no result. A command that was sent may have had its effect.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The store cannot be reached, or the connection broke, for this reason.
    Unreachable(Arc<str>),
    /// There was no reply in time.
    Timeout(Duration),
    /// As many commands wait for replies as may.
    Overloaded,
    /// The bytes that arrived are no replies of Redis.
    Malformed,
    /// The reply is of another kind than that of the command.
    Unexpected,
    /// The store has refused the command, for this reason.
    Refused(String),
    /// The store does not have the script.
    NoScript,
    /// The inbox of the process is full.
    InboxFull,
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(reason) => write!(f, "Redis cannot be reached: {reason}"),
            Self::Timeout(limit) => write!(f, "Redis did not reply within {limit:?}"),
            Self::Overloaded => f.write_str("too many commands wait for replies of Redis"),
            Self::Malformed => f.write_str("the server does not speak the protocol of Redis"),
            Self::Unexpected => f.write_str("Redis sent a reply of another kind"),
            Self::Refused(reason) => write!(f, "Redis refused a command: {reason}"),
            Self::NoScript => f.write_str("Redis does not have the script"),
            Self::InboxFull => f.write_str("the inbox of the process is full"),
        }
    }
}

impl Error for Failure {}

/// Why a text is no address of a store: see [`RedisStore::new`](super::RedisStore::new).
#[derive(Debug)]
pub struct RedisUrlError(pub(super) &'static str);

impl fmt::Display for RedisUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for RedisUrlError {}
