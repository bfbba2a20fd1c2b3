//! The decoders of results.

use std::sync::Arc;

use mcp_proto::json::Raw;
use serde::de::DeserializeOwned;

use crate::client::state::inner::Inner;
use crate::error::CallError;
use crate::model::{CallToolResult, CompleteResult, Completion};
use crate::payload;

/// Makes the result of what the server answered, outside of every lock.
pub(in crate::client) enum Decode<T> {
    /// Of the result; one of a type of an extension is followed first.
    Result(fn(Raw<'_>) -> Result<T, CallError>),
    /// Of the result as it came, of the type that it has; one of a type of an extension is followed first.
    Raw(fn(Raw<'_>) -> T),
    /// Of whatever the server answered, with the client and the subject of the request.
    Unfollowed(fn(&Arc<Inner>, &str, Raw<'_>) -> Result<T, CallError>),
}

/// The whole result.
pub(in crate::client) fn whole<T: DeserializeOwned>(result: Raw<'_>) -> Result<T, CallError> {
    payload::decode(result).map_err(CallError::Decode)
}

/// The suggestions alone.
pub(in crate::client) fn suggestions(result: Raw<'_>) -> Result<Completion, CallError> {
    whole::<CompleteResult>(result).map(|result| result.completion)
}

/// The structured content alone, of a tool that did not fail.
pub(in crate::client) fn structured<T: DeserializeOwned>(result: Raw<'_>) -> Result<T, CallError> {
    let object = result.object().unwrap_or_default();
    let failed = object.get("isError").and_then(Raw::boolean);
    if failed == Some(true) {
        let result: CallToolResult = whole(result)?;
        return Err(CallError::Tool(Box::new(result)));
    }
    match object.get("structuredContent") {
        Some(content) => whole(content),
        None => Err(CallError::Output("there is no structured content".into())),
    }
}
