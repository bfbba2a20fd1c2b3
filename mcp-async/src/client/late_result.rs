//! Results of extensions that arrive after their requests are over.

use mcp_proto::json::{Raw, RawBuf};

/// The request to send after a result that no caller waits for.
pub(super) struct LateResult {
    pub(super) of: LateResultOf,
    /// The method and the parameters of a request, if there is one to send.
    pub(super) request: Box<RequestOf>,
}

/// The results that a request follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LateResultOf {
    /// The results of a type that an extension defines.
    Type(&'static str),
    /// The answers that create tasks of 2025-11-25, which have no type.
    CoreTask,
}

type RequestOf = dyn Fn(Raw<'_>) -> Option<(&'static str, RawBuf)> + Send + Sync;
