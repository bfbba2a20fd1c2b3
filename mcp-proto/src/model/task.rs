//! Tasks: work that outlives its request.

use serde::{Deserialize, Serialize};

use super::open::closed_enum;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_tasks {
    ($form:ident) => {
        $form! {
            /// A task of the extension `io.modelcontextprotocol/tasks`: a result with `resultType`
            /// `task`, the answer to `tasks/get`, and the parameters of `notifications/tasks`. The
            /// status decides which members it has.
            #[derive(Debug)]
            struct DetailedTask {
                /// The id of the task.
                task_id "taskId": Text,
                /// The status.
                status: TaskStatus,
                /// A description of the status, for people.
                status_message "statusMessage": Option<Text>,
                /// The time of the creation, in ISO 8601.
                created_at "createdAt": Text,
                /// The time of the last change, in ISO 8601.
                last_updated_at "lastUpdatedAt": Text,
                /// The time for which it is kept from its creation, in milliseconds; `None` means
                /// without limit.
                ttl_ms "ttlMs": Lifetime,
                /// The time to wait between two polls, in milliseconds.
                poll_interval_ms "pollIntervalMs": Interval,
                /// The questions that are open; of a task that needs input.
                input_requests "inputRequests": Questions,
                /// The result of the request that created it, an object; of a completed task.
                result: Option<Object>,
                /// The JSON-RPC error of that request, an object; of a failed task.
                error: Option<Object>,
                /// Further members.
                meta "_meta": Meta,
            }

            /// A task of 2025-11-25: a member of the answer to a request that asked for one, the
            /// answers to `tasks/get` and `tasks/cancel`, and the parameters of
            /// `notifications/tasks/status`.
            #[derive(Debug)]
            struct Task {
                /// The id of the task.
                task_id "taskId": Text,
                /// The status.
                status: TaskStatus,
                /// A description of the status, for people.
                status_message "statusMessage": Option<Text>,
                /// The time of the creation, in ISO 8601.
                created_at "createdAt": Text,
                /// The time of the last change, in ISO 8601.
                last_updated_at "lastUpdatedAt": Text,
                /// The time for which it is kept from its creation, in milliseconds; `None` means
                /// without limit.
                ttl: Lifetime,
                /// The time to wait between two polls, in milliseconds.
                poll_interval "pollInterval": Interval,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The answer to a request that asked for a task; 2025-11-25 only.
            #[derive(Debug)]
            struct CreateTaskResult {
                /// The task.
                task: Task,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The result of `tasks/list`; 2025-11-25 only.
            #[derive(Debug, Default)]
            struct ListTasksResult {
                /// A page of tasks.
                tasks: List<Task>,
                /// The position of the next page; even an empty text is one.
                next_cursor "nextCursor": Cursor,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`, and the value of
            /// `_meta` that relates a message to a task.
            #[derive(Debug, Default)]
            struct TaskParams<'b> {
                /// The id of the task.
                task_id "taskId": Text,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `tasks/update` of the extension.
            #[derive(Debug, Default)]
            struct UpdateTaskParams<'b> {
                /// The id of the task.
                task_id "taskId": Text,
                /// The answers, or some of them.
                input_responses "inputResponses": InputResponses,
                /// Further members.
                meta "_meta": Meta,
            }
            ;
            ;
        }
    };
}

closed_enum! {
    /// The status of a task.
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
    /// Returns true if the status can change no more (TK-08).
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The request for a task; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TaskMetadata {
    /// The time for which to keep it, in milliseconds; the receiver decides (TK-09).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}
