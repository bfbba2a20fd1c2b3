//! What a person approves: calls of tools.

use core::fmt;
use std::sync::Arc;

use mcp_async::json::RawBuf;
use mcp_async::model::Tool;

use crate::digest::Digest;

/// A question for a person: may this tool be called?
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolApproval {
    /// The server.
    pub server: Arc<str>,
    /// The exposed name of the tool.
    pub exposed_name: String,
    /// The tool as the server lists it. Its description and annotations are claims of the server.
    pub tool: Arc<Tool>,
    /// The arguments of the call, an object.
    pub arguments: RawBuf,
    /// The digest of the name, description, schemas and annotations.
    pub digest: Digest,
    /// True if the person has agreed to another digest of the tool: the server has changed it since.
    pub is_changed: bool,
}

/// The answer to a [`ToolApproval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolConsent {
    /// This call may be made.
    Once,
    /// This call may be made, and others as long as the digest of the tool stays and the host lives.
    WhileUnchanged,
    /// The call is not made.
    Refused,
}

/// Returns the digest of what a person sees of a tool and what the tool does with it.
pub(super) fn digest(tool: &Tool) -> Digest {
    let text = |text: &Option<String>| RawBuf::encode(text).unwrap_or_default();
    let annotations = RawBuf::encode(&tool.annotations).unwrap_or_default();
    let output = RawBuf::encode(&tool.output_schema).unwrap_or_default();
    let parts = [
        text(&tool.title),
        text(&tool.description),
        output,
        annotations,
    ];
    let parts = parts.iter().map(|part| part.as_raw().as_bytes());
    let first = [tool.name.as_bytes(), tool.input_schema.as_raw().as_bytes()];
    Digest::of(first.into_iter().chain(parts))
}

/// Without the arguments, which are the user's.
impl fmt::Debug for ToolApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolApproval")
            .field("server", &self.server)
            .field("exposed_name", &self.exposed_name)
            .field("digest", &self.digest)
            .field("is_changed", &self.is_changed)
            .finish_non_exhaustive()
    }
}
