//! Tasks: work that outlives its request.

use serde::{Deserialize, Serialize};

use super::open::closed_enum;
use super::{InputRequests, InputResponses, Meta, lenient};
use crate::json::{List, Object, Raw, Str};

/// A task of 2025-11-25: the member of the answer to a request that asked for one, the answers to
/// `tasks/get` and `tasks/cancel`, and the parameters of `notifications/tasks/status`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:Task", rename_all = "camelCase")]
pub struct Task<'b> {
    /// What it is named by.
    #[serde(borrow)]
    pub task_id: Str<'b>,
    /// How it stands.
    pub status: TaskStatus,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<Str<'b>>,
    /// When it was created, in ISO 8601.
    pub created_at: Str<'b>,
    /// When its status last changed, in ISO 8601.
    pub last_updated_at: Str<'b>,
    /// How long it is kept from its creation, in milliseconds; `None` means without limit.
    pub ttl: Option<i64>,
    /// How long to wait between two looks, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<u64>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

closed_enum! {
    /// How a task stands.
    pub enum TaskStatus {
        /// It is being worked on.
        Working = "working",
        /// It waits for an answer.
        InputRequired = "input_required",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it can change no more (TK-08).
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`, and the value of
/// `_meta` that relates a message to a task.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:TaskParams", rename_all = "camelCase")]
pub struct TaskParams<'b> {
    /// The task.
    #[serde(borrow)]
    pub task_id: Str<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The answer to a request that asked for a task; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateTaskResult", rename_all = "camelCase")]
pub struct CreateTaskResult<'b> {
    /// The task.
    #[serde(borrow)]
    pub task: Task<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `tasks/list`; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListTasksResult", rename_all = "camelCase")]
pub struct ListTasksResult<'b> {
    /// A page of tasks.
    #[serde(borrow)]
    pub tasks: List<'b, Task<'b>>,
    /// Where the next page begins; even an empty one is a cursor (PN-04).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "lenient::echo"
    )]
    pub next_cursor: Option<Str<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A task of the extension `io.modelcontextprotocol/tasks`: an answer with `resultType` `task`,
/// the answer to `tasks/get`, and the parameters of `notifications/tasks`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:DetailedTask", rename_all = "camelCase")]
pub struct DetailedTask<'b> {
    /// What it is named by.
    #[serde(borrow)]
    pub task_id: Str<'b>,
    /// How it stands.
    pub status: TaskStatus,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<Str<'b>>,
    /// When it was created, in ISO 8601.
    pub created_at: Str<'b>,
    /// When its status last changed, in ISO 8601.
    pub last_updated_at: Str<'b>,
    /// How long it is kept from its creation, in milliseconds; `None` means without limit.
    pub ttl_ms: Option<i64>,
    /// How long to wait between two looks, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// What it waits for, if that is how it stands (TK-36).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests<'b>>,
    /// What came of it, if it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Object<'b>>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Raw<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The parameters of `tasks/update` of the extension.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:UpdateTaskParams", rename_all = "camelCase")]
pub struct UpdateTaskParams<'b> {
    /// The task.
    #[serde(borrow)]
    pub task_id: Str<'b>,
    /// The answers, or some of them (TK-40).
    pub input_responses: InputResponses<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
