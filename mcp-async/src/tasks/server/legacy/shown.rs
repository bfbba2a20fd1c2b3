//! Tasks as messages of 2025-11-25 have them.

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::TaskStatus;
use serde::Serialize;

use super::super::super::store::TaskRecord;
use super::super::shown::SAFE;
use super::super::time::iso;
use crate::error::ErrorReply;

/// A task: the result of `tasks/get` and `tasks/cancel`, and the parameters of its notifications.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownTask<'a> {
    task_id: &'a str,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: String,
    last_updated_at: String,
    ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval: Option<u64>,
}

/// The result of the call that creates a task.
#[derive(Serialize)]
struct Created<'a> {
    task: ShownTask<'a>,
}

pub(super) fn created(record: &TaskRecord) -> Result<RawBuf, ErrorReply> {
    let task = task(record);
    RawBuf::encode(&Created { task }).map_err(|_| ErrorReply::internal())
}

pub(super) fn shown(record: &TaskRecord) -> Result<RawBuf, ErrorReply> {
    RawBuf::encode(&task(record)).map_err(|_| ErrorReply::internal())
}

fn task(record: &TaskRecord) -> ShownTask<'_> {
    ShownTask {
        task_id: record.id(),
        status: status(record),
        status_message: record.status_message(),
        created_at: iso(record.created),
        last_updated_at: iso(record.updated),
        ttl: record.ttl.map(|ttl| ttl.min(SAFE)),
        poll_interval: record.poll.map(|poll| poll.min(SAFE)),
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
