//! Results of extensions that arrive after their requests are over.

use mcp_proto::json::{Raw, RawBuf};

/// What follows a result of this type that no caller waits for.
pub(super) struct LateResult {
    pub(super) name: &'static str,
    /// The method and the parameters of a request, if there is one to send.
    pub(super) request: Box<RequestOf>,
}

type RequestOf = dyn Fn(Raw<'_>) -> Option<(&'static str, RawBuf)> + Send + Sync;
