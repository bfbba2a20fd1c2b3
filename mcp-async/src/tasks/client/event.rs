//! The changes of a task that its handle reports.

use core::time::Duration;

use crate::model::{DetailedTask, TaskStatus};

/// A change of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskEvent {
    /// Its status or its message is another one.
    State(TaskState),
    /// It asks questions that it did not ask before, under these keys; the callbacks of the client
    /// are asked. Questions of tasks of 2025-11-25 have no keys, and are not reported.
    Asked(Vec<String>),
    /// The server has received the answers to the questions under these keys.
    Answered(Vec<String>),
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskState {
    /// Its status.
    pub status: TaskStatus,
    /// A description of the status, for people: how far it is, for example.
    pub message: Option<String>,
    /// The time of its creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// The lifetime of the task on the server, from its creation; `None` means without limit.
    pub ttl: Option<Duration>,
    /// The interval between two polls that the server asks for.
    pub poll_interval: Option<Duration>,
}

impl TaskState {
    pub(super) fn of(task: &DetailedTask) -> Self {
        Self {
            status: task.status,
            message: task.status_message.clone(),
            created_at: task.created_at.clone(),
            last_updated_at: task.last_updated_at.clone(),
            ttl: task
                .ttl_ms
                .map(|ttl| Duration::from_millis(u64::try_from(ttl).unwrap_or(0))),
            poll_interval: task.poll_interval_ms.map(Duration::from_millis),
        }
    }

    /// Returns true if the status and its message are the same, so that users see no difference.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.status, &self.message) == (other.status, &other.message)
    }
}
