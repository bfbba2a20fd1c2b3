//! The request for a task.

use serde::{Deserialize, Serialize};

/// Asks for a task; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:TaskMetadata", rename_all = "camelCase")]
pub struct TaskMetadata {
    /// How long to keep it, in milliseconds; the receiver decides (TK-09).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}
