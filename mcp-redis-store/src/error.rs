//! The failures of commands.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerErrorKind};

use mcp_async::http::StoreError;
use mcp_async::tasks::store::TaskStoreError;

/// Reasons for which a command had no result. A command that was sent may have had its effect.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The store cannot be reached, or the connection broke, for this reason.
    Unreachable(Arc<str>),
    /// There was no reply in time.
    Timeout(Duration),
    /// The bytes that arrived are no replies of Redis.
    Malformed,
    /// The reply is of another kind than that of the command.
    Unexpected,
    /// The store has refused the command, for this reason.
    Refused(Arc<str>),
    /// The server has become a replica, and refuses to write.
    Replica(Arc<str>),
    /// The store does not have the script.
    NoScript,
    /// The record is one of another layout.
    Layout,
    /// Other processes were faster each time.
    Contended,
}

impl Failure {
    /// Converts an error of the crate `redis`; `limit` is the time limit of the command.
    pub(crate) fn of(error: &RedisError, limit: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(limit);
        }
        match (error.kind(), error.code()) {
            (ErrorKind::Parse, _) => Self::Malformed,
            (ErrorKind::Server(ServerErrorKind::NoScript), _) => Self::NoScript,
            (_, Some("LAYOUT")) => Self::Layout,
            (kind, Some(code)) => {
                let detail = error.detail().unwrap_or_default();
                let reason = format!("{code} {detail}").into();
                match kind {
                    ErrorKind::Server(ServerErrorKind::ReadOnly) => Self::Replica(reason),
                    _ => Self::Refused(reason),
                }
            }
            (ErrorKind::RESP3NotSupported, None) => Self::Refused("it knows no HELLO".into()),
            // The crate says so of a connection that has ended.
            (ErrorKind::Io, None) if error.is_connection_dropped() && broken_pipe(error) => {
                Self::Unreachable("the connection was closed".into())
            }
            _ => Self::Unreachable(error.to_string().into()),
        }
    }

    /// Returns true if the command may succeed on another connection.
    pub(crate) const fn ends_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Timeout(_) | Self::Malformed | Self::Replica(_)
        )
    }
}

fn broken_pipe(error: &RedisError) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

impl From<Failure> for TaskStoreError {
    fn from(failure: Failure) -> Self {
        Self::new(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(reason) => write!(f, "Redis cannot be reached: {reason}"),
            Self::Timeout(limit) => write!(f, "Redis did not reply within {limit:?}"),
            Self::Malformed => f.write_str("the server does not speak the protocol of Redis"),
            Self::Unexpected => f.write_str("Redis sent a reply of another kind"),
            Self::Refused(reason) | Self::Replica(reason) => {
                write!(f, "Redis refused a command: {reason}")
            }
            Self::NoScript => f.write_str("Redis does not have the script"),
            Self::Layout => f.write_str("the record in Redis was made by another version"),
            Self::Contended => f.write_str("the owner of the session changes all the time"),
        }
    }
}

impl Error for Failure {}

/// A setting of a [`RedisStore`](crate::RedisStore) that cannot be: an address, a certificate.
#[derive(Debug)]
pub struct RedisConfigError(pub(crate) &'static str);

impl fmt::Display for RedisConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for RedisConfigError {}
