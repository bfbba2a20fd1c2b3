//! Errors of calls.

use core::fmt;

use mcp_proto::SendError;
use mcp_proto::client::Failure;
use mcp_proto::json::DecodeError;

use super::reply::ErrorReply;

/// Reasons for which a call has no result.
///
/// Only [`Server`](Self::Server) and [`Tool`](Self::Tool) are the server's word; everything
/// else is a fact of this side.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Server(ErrorReply),
    /// The call was not sent: the server did not declare this capability.
    MissingCapability(&'static str),
    /// The call was not sent: the server did not declare this extension.
    MissingExtension(String),
    /// The call was not sent: the revision that rules does not have its method.
    NotInRevision,
    /// The call was not sent: the table is full, the parameters are no object or too large.
    Refused(SendError),
    /// The request could not be sent, or was not answered, in time; a request that was sent was cancelled.
    Timeout,
    /// The connection is over.
    Closed,
    /// The connection is over because the server, a child process, ended or closed its output.
    ExitedEarly(crate::io::process::ExitedEarly),
    /// It ended without an answer that can be used.
    Failed(Failure),
    /// The client has no access token that the server accepts.
    Authorization(std::sync::Arc<super::AuthorizationError>),
    /// The result is not of the type that was asked for.
    Decode(DecodeError),
    /// The server asked for input, and a callback of this client refused it.
    Input(ErrorReply),
    /// The tool ran and failed; this is what it says. Only of calls that return the structured
    /// content alone; the others hand the whole result over.
    Tool(Box<crate::model::CallToolResult>),
    /// The structured content is not what the tool's output schema promises, or it is
    /// missing; the text says where and why.
    Output(String),
    /// The pages of a list do not end: a cursor came twice in a row, or there are more pages
    /// than are read.
    PaginationLimit,
    /// The server made a task of the call, and the task has no result.
    Task(super::TaskError),
}

impl CallError {
    /// Returns the error that the server answered with.
    pub const fn reply(&self) -> Option<&ErrorReply> {
        match self {
            Self::Server(reply) => Some(reply),
            _ => None,
        }
    }

    /// Returns true if the server answered a `resources/read` with the error that there is no such resource; see
    /// [`ErrorReply::is_resource_not_found`].
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::CallError;
    ///
    /// async fn exists(client: &Client, uri: &str) -> Result<bool, CallError> {
    ///     match client.read_resource(uri).await {
    ///         Ok(_) => Ok(true),
    ///         Err(error) if error.is_resource_not_found() => Ok(false),
    ///         Err(error) => Err(error),
    ///     }
    /// }
    /// # let _ = exists;
    /// ```
    pub fn is_resource_not_found(&self) -> bool {
        self.reply().is_some_and(ErrorReply::is_resource_not_found)
    }
}

impl From<SendError> for CallError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closed => Self::Closed,
            SendError::MissingCapability(capability) => Self::MissingCapability(capability),
            SendError::NotInRevision => Self::NotInRevision,
            other => Self::Refused(other),
        }
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Closed => Self::Closed,
            Failure::Timeout => Self::Timeout,
            other => Self::Failed(other),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => write!(f, "the server answered with an error: {error}"),
            Self::MissingCapability(capability) => {
                write!(
                    f,
                    "the call was not sent: the server does not declare {capability}"
                )
            }
            Self::MissingExtension(name) => write!(
                f,
                "the call was not sent: the server does not declare the extension {name}"
            ),
            Self::NotInRevision => {
                f.write_str("the call was not sent: the server's revision does not have it")
            }
            Self::Refused(_) => f.write_str("the call was not sent"),
            Self::Timeout => Failure::Timeout.fmt(f),
            Self::Closed => Failure::Closed.fmt(f),
            Self::ExitedEarly(died) => died.fmt(f),
            Self::Failed(failure) => failure.fmt(f),
            Self::Authorization(error) => error.fmt(f),
            Self::Decode(_) => f.write_str("the server's result is of another type"),
            Self::Input(error) => {
                write!(f, "the input that the server wants is refused: {error}")
            }
            Self::Tool(result) => write!(f, "the tool failed: {}", result.text()),
            Self::Output(why) => write!(f, "the tool's result breaks its output schema: {why}"),
            Self::PaginationLimit => f.write_str("the pages of the server's list do not end"),
            Self::Task(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Refused(error) => Some(error),
            Self::Decode(error) => Some(error),
            Self::Authorization(error) => error.source(),
            _ => None,
        }
    }
}
