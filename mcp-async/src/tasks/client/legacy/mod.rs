//! Tasks of 2025-11-25, which are part of the protocol there.
//!
//! A client asks for a task by a member of its call, polls it, and takes its result by a request of
//! its own, on whose stream the server also asks. Servers may ask for tasks as well.

mod follower;
mod list;
mod question_task;
mod questions;

use mcp_proto::json::{Raw, RawBuf};

pub(super) use self::follower::Follower;
pub(super) use self::questions::Questions;
use super::cancellation_of;
use crate::client::{CallError, is_created};
use crate::error::TaskError;
use crate::model::{CreateTaskResult, Task};

/// Reads the answer that created a task; `None` for the result of a call.
pub(super) fn created(result: Raw<'_>) -> Option<Result<Task, CallError>> {
    is_created(result).then(|| {
        let created: CreateTaskResult = result.decode(&mut []).map_err(CallError::Decode)?;
        if created.task.task_id.is_empty() {
            return Err(CallError::Task(TaskError::Invalid("its id is empty")));
        }
        Ok(created.task)
    })
}

/// The request that cancels a task whose call is over (TK-62).
pub(super) fn cancellation(result: Raw<'_>) -> Option<(&'static str, RawBuf)> {
    cancellation_of(&created(result)?.ok()?.task_id)
}
