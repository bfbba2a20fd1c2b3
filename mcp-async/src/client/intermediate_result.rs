//! Results that are not the last of their calls.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;

use super::boxed::Boxed;
use crate::error::CallError;

/// A result of a type that an extension defines, and the request that it answers.
pub(super) struct IntermediateResult {
    pub(super) method: String,
    pub(super) result: RawBuf,
    pub(super) timeout: Option<Duration>,
    pub(super) max_duration: Option<Duration>,
}

/// Continues from such a result; `C` is the client that made the call.
pub(super) type Follow<C> =
    dyn Fn(Arc<C>, IntermediateResult) -> Boxed<Result<RawBuf, CallError>> + Send + Sync;
