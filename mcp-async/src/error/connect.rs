//! Errors of connecting.

use core::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::RevisionSet;
use mcp_proto::client::{ConnectError as CoreError, Failure};
use mcp_proto::json::RawBuf;

use super::reply::ErrorReply;
use crate::io::process::ExitedEarly;

/// Reasons for which there is no connection to the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// No revision suits both sides.
    Revision {
        /// The server's offer: one version, or a list of them.
        offered: RawBuf,
        /// The revisions that this client accepts.
        accepted: RevisionSet,
    },
    /// The server refused.
    Refused(ErrorReply),
    /// The answer is not what the method returns, or no message at all.
    Answer,
    /// No answer in time.
    Timeout,
    /// The connection ended first. A legacy server may exit on an unknown first message: start
    /// it once more, with [`Negotiation::Handshake`](mcp_proto::client::Negotiation::Handshake).
    Closed,
    /// The configuration accepts no revision.
    NoRevision,
    /// The first message is longer than the output may be: what this client says of itself
    /// exceeds [`Limits::output`](mcp_proto::Limits::output).
    TooLarge,
    /// The server is a child process, and could not be started; or the streams to it could not be
    /// opened.
    Start(Arc<io::Error>),
    /// The child process ended, or closed its output, before it was known who it is.
    ExitedEarly(ExitedEarly),
    /// The child process printed a line that is no message, and within two seconds nothing from
    /// which it is known who it is. Standard output is for messages only; the process was
    /// killed.
    Output(ExitedEarly),
    /// Over HTTP: the server refused by a status, or what it sent is no answer.
    Failed(Failure),
    /// Over HTTP: the server could not be reached or did not answer; with the known reason.
    Unreachable(String),
    /// This root is no directory of this machine: it has to be `file://` and an absolute path. Nothing was sent.
    Root(String),
    /// This is no URL of HTTP; here it is without user, password and query. Nothing was sent.
    Url(String),
    /// This header is invalid, or reserved for the client itself. Nothing was sent.
    Header(String),
    /// An extension has no name with a prefix, or the settings of the extension or of the
    /// experimental capability of this name are no object. Nothing was sent.
    Extension(String),
    /// The client has no access token that the server accepts.
    Authorization(Arc<super::AuthorizationError>),
}

impl ConnectError {
    pub(crate) fn start(error: io::Error) -> Self {
        Self::Start(Arc::new(error))
    }

    pub(crate) fn received(error: &CoreError<'_>) -> Self {
        match error {
            CoreError::Revision { offered, accepted } => Self::Revision {
                offered: RawBuf::from(*offered),
                accepted: *accepted,
            },
            CoreError::Refused(error) => Self::Refused(ErrorReply::received(error)),
            CoreError::Answer => Self::Answer,
            CoreError::Timeout => Self::Timeout,
            CoreError::NoRevision => Self::NoRevision,
            CoreError::TooLarge => Self::TooLarge,
            CoreError::Failed(failure) => Self::Failed(*failure),
            _ => Self::Closed,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision { offered, accepted } => CoreError::Revision {
                offered: offered.as_raw(),
                accepted: *accepted,
            }
            .fmt(f),
            Self::Refused(error) => write!(f, "the server refused: {error}"),
            Self::Answer => CoreError::Answer.fmt(f),
            Self::Timeout => CoreError::Timeout.fmt(f),
            Self::Closed => CoreError::Closed.fmt(f),
            Self::NoRevision => CoreError::NoRevision.fmt(f),
            Self::TooLarge => CoreError::TooLarge.fmt(f),
            Self::Start(_) => f.write_str("the server cannot be started"),
            Self::ExitedEarly(died) | Self::Output(died) => died.fmt(f),
            Self::Failed(failure) => failure.fmt(f),
            Self::Unreachable(cause) => f.write_str(cause),
            Self::Url(url) => write!(f, "a server is at an http:// or https:// URL, not {url:?}"),
            Self::Header(name) => write!(f, "the header {name:?} cannot be set to this"),
            Self::Root(uri) => write!(f, "a root has to be a file:// URI, not {uri:?}"),
            Self::Extension(name) => {
                write!(
                    f,
                    "the extension {name:?} has no valid name, or its settings are no object"
                )
            }
            Self::Authorization(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Start(error) => Some(&**error),
            Self::ExitedEarly(died) | Self::Output(died) => died.source(),
            Self::Authorization(error) => error.source(),
            _ => None,
        }
    }
}
