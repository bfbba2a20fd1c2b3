//! Tasks of 2025-11-25, as messages have them.

use mcp_proto::json::{Raw, RawBuf, Str};
use mcp_proto::model::{TaskMetadata, TaskStatus};
use mcp_proto::rpc::code;

use super::related::relate;
use super::store::TaskRecord;
use super::time::{IsoTime, SAFE};
use crate::error::ErrorReply;
use crate::model::{CreateTaskResult, Meta, Task};

/// Reads the member `task` of a request that asks for one.
pub(super) fn requested(task: Raw<'_>) -> Result<TaskMetadata, ErrorReply> {
    let task = task.decode(&mut []);
    task.map_err(|error| ErrorReply::invalid_params(format!("task: {error}")))
}

/// The task of a record: the result of `tasks/get` and `tasks/cancel`, and the parameters of the
/// notification of its status.
pub(super) fn shown(record: &TaskRecord) -> Task {
    let ttl = record.ttl.map(|ttl| ttl.min(SAFE));
    Task {
        task_id: record.id().to_owned(),
        status: status(record),
        status_message: record.message.clone(),
        created_at: IsoTime::new(record.created).as_str().to_owned(),
        last_updated_at: IsoTime::new(record.updated).as_str().to_owned(),
        ttl: ttl.and_then(|ttl| i64::try_from(ttl).ok()),
        poll_interval: record.poll.map(|poll| poll.min(SAFE)),
        meta: Meta::new(),
    }
}

/// The answer to the request that creates a task.
pub(super) fn created(record: &TaskRecord) -> CreateTaskResult {
    CreateTaskResult {
        task: shown(record),
        meta: Meta::new(),
    }
}

/// The status; the error of a tool is a failure in this revision (TK-18).
pub(super) fn status(record: &TaskRecord) -> TaskStatus {
    let result = record.result.as_ref().and_then(|it| it.as_raw().object());
    let is_error = result.and_then(|result| result.get("isError"));
    match is_error.and_then(Raw::boolean) {
        Some(true) if record.status == TaskStatus::Completed => TaskStatus::Failed,
        _ => record.status,
    }
}

/// The outcome of the request that created a task, which has ended (TK-12).
pub(super) fn outcome(record: TaskRecord) -> Result<RawBuf, ErrorReply> {
    match (record.status, record.result, record.error) {
        (TaskStatus::Completed, Some(result), _) => relate(result.as_raw(), Str::from(&*record.id)),
        (_, _, Some(error)) => Err(error.into()),
        (TaskStatus::Cancelled, ..) => Err(ErrorReply::new(
            code::INTERNAL_ERROR,
            "the task was cancelled",
        )),
        _ => Err(ErrorReply::internal()),
    }
}
