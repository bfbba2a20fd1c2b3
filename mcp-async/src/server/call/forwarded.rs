//! The result of a tool of another server.

use core::fmt;

use mcp_proto::json::{EncodeError, Object, Raw, RawBuf, Writer};
use mcp_proto::model::keys;
use mcp_proto::{Outcome, Payload, Revision, RevisionSet};

use super::output::ToolOutput;
use crate::model::CallToolResult;

/// The result of a tool that another server has run, for a server that forwards calls: see [`Tool::of`](crate::server::Tool::of).
///
/// Its members are written as they came, byte for byte, so that numbers keep their digits and objects their order. Only the
/// name of the other server, the task that it names, `resultType` and what caches need are made anew. A caller of an older revision than the other server's
/// receives what its revision has: the result is decoded and written again for it.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::model;
/// use mcp_async::server::{Forwarded, Tool, ToolCall};
///
/// /// Offers a tool of another server.
/// fn forward(client: Client, listed: model::Tool) -> Tool {
///     let name = listed.name.clone();
///     Tool::of(listed).raw(move |call: ToolCall, _| {
///         let (client, name) = (client.clone(), name.clone());
///         async move {
///             let result = client.call_tool(&name, &call.arguments).raw().await?;
///             Ok(Forwarded::new(result, client.info().revision))
///         }
///     })
/// }
/// # let _ = forward;
/// ```
#[derive(Clone)]
pub struct Forwarded {
    result: RawBuf,
    revision: Revision,
}

impl Forwarded {
    /// The result of a server that speaks this revision.
    pub const fn new(result: RawBuf, revision: Revision) -> Self {
        Self { result, revision }
    }

    fn object(&self) -> Object<'_> {
        self.result.as_raw().object().unwrap_or_default()
    }
}

impl ToolOutput for Forwarded {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        send(Outcome::Result(self));
    }

    fn is_error(&self) -> bool {
        // Most results do not have the member, which costs less to see in the text.
        let has_member = self.result.as_raw().as_str().contains("isError");
        has_member && self.object().get("isError").and_then(Raw::boolean) == Some(true)
    }
}

impl Payload for Forwarded {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        if !RevisionSet::at_least(self.revision).contains(revision) {
            let result = self.result.decode();
            let mut result: CallToolResult = result.map_err(|_| EncodeError::Custom)?;
            result.meta.remove(keys::SERVER_INFO);
            result.meta.remove(keys::RELATED_TASK);
            return result.write(writer, revision);
        }
        let mut before = "{";
        for (name, value) in self.object().members() {
            // The usual one is made anew; another one is for callers that have asked for it, and legacy revisions have none.
            let is_usual = || value.string().is_some_and(|kind| kind == "complete");
            let has_none = revision.is_legacy() || self.revision.is_legacy();
            if name == "resultType" && (has_none || is_usual()) {
                continue;
            }
            writer.literal(before);
            writer.text_exact(name);
            writer.literal(":");
            match value.object().filter(|_| name == "_meta") {
                Some(meta) => write_meta(meta, writer),
                None => writer.raw(value),
            }
            before = ",";
        }
        writer.literal(if before == "{" { "{}" } else { "}" });
        Ok(())
    }
}

/// Writes `_meta` without the name of the other server, and without its task, which the caller does not know.
fn write_meta(meta: Object<'_>, writer: &mut Writer<'_>) {
    let mut before = "{";
    for (name, value) in meta.members() {
        if name == keys::SERVER_INFO || name == keys::RELATED_TASK {
            continue;
        }
        writer.literal(before);
        writer.text_exact(name);
        writer.literal(":");
        writer.raw(value);
        before = ",";
    }
    writer.literal(if before == "{" { "{}" } else { "}" });
}

/// Without the result, which is not for logs.
impl fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarded").finish_non_exhaustive()
    }
}
