//! Tasks as messages have them.

use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::super::store::{TaskFailure, TaskQuestion, TaskRecord};
use super::time::{IsoTime, SAFE};

/// A task of the extension: the result that creates it, the result of `tasks/get`, and the
/// parameters of its notifications.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownTask<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'a str>,
    task_id: &'a str,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: IsoTime,
    last_updated_at: IsoTime,
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<ShownQuestions<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a TaskFailure>,
}

struct ShownQuestions<'a>(&'a [TaskQuestion]);

#[derive(Serialize)]
struct ShownQuestion<'a> {
    method: &'a str,
    params: &'a RawBuf,
}

impl Serialize for ShownQuestions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for TaskQuestion {
            key,
            method,
            params,
        } in self.0
        {
            map.serialize_entry(key, &ShownQuestion { method, params })?;
        }
        map.end()
    }
}

/// The result that creates a task: no more than its state (TK-56).
pub(super) struct CreatedTask(pub(super) TaskRecord);

/// A task with the members of its status (TK-36).
pub(super) struct DetailedTask(pub(super) TaskRecord);

impl Serialize for CreatedTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = ShownTask {
            result_type: Some("task"),
            ..brief(&self.0)
        };
        shown.serialize(serializer)
    }
}

impl Serialize for DetailedTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = &self.0;
        let mut shown = brief(record);
        match record.status {
            TaskStatus::InputRequired => {
                shown.input_requests = Some(ShownQuestions(&record.questions));
            }
            TaskStatus::Completed => shown.result = record.result.as_deref(),
            TaskStatus::Failed => shown.error = record.error.as_ref(),
            _ => {}
        }
        shown.serialize(serializer)
    }
}

fn brief(record: &TaskRecord) -> ShownTask<'_> {
    ShownTask {
        result_type: None,
        task_id: record.id(),
        status: record.status,
        status_message: record.status_message(),
        created_at: IsoTime::new(record.created),
        last_updated_at: IsoTime::new(record.updated),
        // TK-65
        ttl_ms: record.ttl.map(|ttl| ttl.min(SAFE)),
        poll_interval_ms: record.poll.map(|poll| poll.min(SAFE)),
        input_requests: None,
        result: None,
        error: None,
    }
}
