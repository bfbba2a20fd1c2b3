//! Calls of tools that are tasks of 2025-11-25, which are no extension there.

use mcp_proto::model::TaskMetadata;

use super::intermediate_result::Follow;

/// The use that a client, `C`, makes of tasks of 2025-11-25.
pub(super) struct CoreTasks<C> {
    /// The member `task` of a call that asks for a task.
    pub(super) metadata: TaskMetadata,
    /// Continues from the answer that created a task.
    pub(super) follow: Box<Follow<C>>,
}
