//! Tasks: work that outlives its request.

use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Cursor, Meta, lenient};

/// A task of the extension `io.modelcontextprotocol/tasks`: a result with `resultType` `task`, the
/// answer to `tasks/get`, and the parameters of `notifications/tasks`.
///
/// Which members are there depends on the status (`TK-36`); [`check`](Self::check) compares them.
///
/// ```
/// use mcp_async::model::{DetailedTask, TaskStatus};
/// use mcp_proto::json::RawBuf;
///
/// let answer = RawBuf::parse(
///     r#"{"taskId":"7c1","status":"completed","createdAt":"2026-07-28T10:00:00Z",
///         "lastUpdatedAt":"2026-07-28T10:00:09Z","ttlMs":60000,"result":{"content":[]}}"#,
/// )?;
/// let task: DetailedTask = answer.decode()?;
/// assert_eq!(task.status, TaskStatus::Completed);
/// assert!(task.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:DetailedTask", rename_all = "camelCase")]
pub struct DetailedTask {
    /// The id of the task.
    pub task_id: String,
    /// Its status.
    pub status: TaskStatus,
    /// A description of the status, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// The time of its creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept from its creation, in milliseconds; `None` means without limit.
    #[serde(default, deserialize_with = "milliseconds")]
    pub ttl_ms: Option<i64>,
    /// How long to wait between two polls, in milliseconds.
    #[serde(
        default,
        deserialize_with = "interval",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval_ms: Option<u64>,
    /// The questions that are open, an object; of a task that needs input.
    #[serde(
        default,
        deserialize_with = "lenient::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub input_requests: Option<RawBuf>,
    /// The result of the request that created it, an object; of a completed task.
    #[serde(
        default,
        deserialize_with = "lenient::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<RawBuf>,
    /// The JSON-RPC error of that request, an object; of a failed task.
    #[serde(
        default,
        deserialize_with = "lenient::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub error: Option<RawBuf>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl DetailedTask {
    /// Checks that the members are those of the status (`TK-36`, `TK-43`). The answer that creates
    /// a task has none of them, whatever its status.
    ///
    /// # Errors
    ///
    /// A sentence that names the member that is missing or must not be there.
    pub const fn check(&self) -> Result<(), &'static str> {
        let completed = matches!(self.status, TaskStatus::Completed);
        let failed = matches!(self.status, TaskStatus::Failed);
        let asks = matches!(self.status, TaskStatus::InputRequired);
        match (self.result.is_some(), self.error.is_some()) {
            (false, _) if completed => Err("it is completed and has no result"),
            (true, _) if !completed => Err("it is not completed and has a result"),
            (_, false) if failed => Err("it failed and has no error"),
            (_, true) if !failed => Err("it did not fail and has an error"),
            _ if asks && self.input_requests.is_none() => {
                Err("it needs input and has no inputRequests")
            }
            _ if !asks && self.input_requests.is_some() => {
                Err("it needs no input and has inputRequests")
            }
            _ => Ok(()),
        }
    }
}

/// A task of 2025-11-25: a member of the answer to a request that asked for one, the answers to
/// `tasks/get` and `tasks/cancel`, and the parameters of `notifications/tasks/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:Task", rename_all = "camelCase")]
pub struct Task {
    /// The id of the task.
    pub task_id: String,
    /// Its status.
    pub status: TaskStatus,
    /// A description of the status, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// The time of its creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept from its creation, in milliseconds; `None` means without limit.
    #[serde(default, deserialize_with = "milliseconds")]
    pub ttl: Option<i64>,
    /// How long to wait between two polls, in milliseconds.
    #[serde(
        default,
        deserialize_with = "interval",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval: Option<u64>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// The answer to a request that asked for a task; 2025-11-25 only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateTaskResult", rename_all = "camelCase")]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// The result of `tasks/list`; 2025-11-25 only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ListTasksResult", rename_all = "camelCase")]
pub struct ListTasksResult {
    /// A page of tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins; even an empty one is a cursor (`PN-04`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// A time to live (`TK-65`).
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let value = Option::<i64>::deserialize(deserializer)?;
    match value {
        Some(value) if value.unsigned_abs() > MAX_SAFE => Err(D::Error::custom(OUT_OF_RANGE)),
        value => Ok(value),
    }
}

/// An interval (`TK-65`).
fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Option::<u64>::deserialize(deserializer)?;
    match value {
        Some(value) if value > MAX_SAFE => Err(D::Error::custom(OUT_OF_RANGE)),
        value => Ok(value),
    }
}

/// The largest integer that every implementation of JSON reads exactly.
const MAX_SAFE: u64 = (1 << 53) - 1;
const OUT_OF_RANGE: &str = "the number is larger than 2^53 - 1";
