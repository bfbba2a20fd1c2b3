//! The JSON lines in which a client reports the outcome of each step.

use std::io;

use mcp_async::model::{CallToolResult, TaskStatus};
use mcp_proto::json::RawBuf;
use serde::Serialize;

use crate::client::first_text;

/// The line of a step.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    pub(crate) op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<bool>,
    /// `null` for a result without a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<RawBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<TaskStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Line {
    /// Creates the line of a step that succeeded.
    pub(crate) fn new(op: &'static str, n: Option<u8>) -> Self {
        Self {
            op,
            n,
            ok: Some(true),
            ..Self::default()
        }
    }

    pub(crate) fn result(n: u8, result: &CallToolResult) -> Self {
        Self {
            status: Some(TaskStatus::Completed),
            text: first_text(&result.content),
            is_error: Some(result.is_error),
            ..Self::new("result", Some(n))
        }
    }

    pub(crate) fn failed(self, error: String) -> Self {
        Self {
            ok: Some(false),
            error: Some(error),
            ..self
        }
    }

    /// Creates the line of a step that may have failed; `more` adds the members of a success.
    pub(crate) fn of<T>(
        op: &'static str,
        outcome: Result<&T, &String>,
        more: impl FnOnce(&T, Self) -> Self,
    ) -> Self {
        let line = Self::new(op, None);
        match outcome {
            Ok(value) => more(value, line),
            Err(error) => line.failed(error.clone()),
        }
    }

    pub(crate) fn print(&self) -> io::Result<()> {
        let line = RawBuf::encode(self).map_err(io::Error::other)?;
        crate::print(line.as_raw().as_str())
    }
}
