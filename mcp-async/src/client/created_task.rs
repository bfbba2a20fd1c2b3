//! The answer that creates a task of 2025-11-25.

use mcp_proto::json::Raw;

/// Returns whether a call that asked for a task was answered with one. Every result of a tool has
/// `content`.
pub(crate) fn is_created(result: Raw<'_>) -> bool {
    result.object().is_some_and(|result| {
        let task = result.get("task").and_then(Raw::object);
        task.is_some() && result.get("content").is_none()
    })
}
