//! The outcome of a call.

use mcp_proto::rpc::code;
use mcp_proto::{Outcome, SendError};

use crate::error::ErrorReply;

/// The outcome of a call, as its handler gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// With a result.
    Result,
    /// With the result of a tool that failed (`isError`). Only typed handlers of tools state it: a
    /// [`Service`](crate::server::Service) that writes such a result by hand has ended with a
    /// [`Result`](Self::Result).
    ToolError,
    /// With an error of this code.
    Error(i64),
    /// With questions to the client, which calls again with the answers. Only in 2026-07-28.
    Input,
    /// With nothing: the client cancelled the call, or its connection ended, before the answer. Only a
    /// [`Job`](crate::Job) that outlives its call ends so; the connection drops its own.
    Cancelled,
}

impl CallOutcome {
    pub(crate) fn of(outcome: &Outcome<'_>) -> Self {
        match outcome {
            Outcome::Result(_) => Self::Result,
            Outcome::Error(error) => Self::Error(code::written(error.code)),
            Outcome::Input(_) => Self::Input,
        }
    }

    /// The outcome of a call whose answer could not be sent for this reason.
    pub(crate) fn unsent(error: SendError) -> Self {
        match error {
            SendError::Stale | SendError::Closed => Self::Cancelled,
            _ => Self::of(&Outcome::Error(ErrorReply::internal().as_object())),
        }
    }
}
