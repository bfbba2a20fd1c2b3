//! The handle of a task.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_core::Stream;

use super::event::{TaskEvent, TaskState};
use super::follower::Follower;
use crate::client::{CallError, Client};
use crate::model::{CallToolResult, DetailedTask};

/// The outcome of the call of a tool.
#[derive(Debug)]
pub enum ToolOutcome {
    /// The result, at once.
    Result(CallToolResult),
    /// A task, whose result comes later.
    Task(TaskHandle),
}

impl ToolOutcome {
    /// Waits for the result, whichever it is.
    ///
    /// # Errors
    /// As for [`TaskHandle::result`].
    pub async fn result(self) -> Result<CallToolResult, CallError> {
        match self {
            Self::Result(result) => Ok(result),
            Self::Task(task) => task.result().await,
        }
    }
}

/// A task of the server: a stream of its changes, and its result.
///
/// The task is followed while the handle, or the future of one of its methods, is polled. Dropping
/// the handle cancels the task; [`detach`](Self::detach) leaves it to run, and
/// [`Client::resume_task`] finds it again.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::CallError;
/// use mcp_async::tasks::client::ToolOutcome;
///
/// /// Starts an export, for another process to fetch.
/// async fn begin(client: &Client) -> Result<Option<String>, CallError> {
///     match client.call_tool_task("export", &()).await? {
///         ToolOutcome::Result(_) => Ok(None),
///         ToolOutcome::Task(task) => Ok(Some(task.detach())),
///     }
/// }
///
/// async fn fetch(client: &Client, id: &str) -> Result<String, CallError> {
///     Ok(client.resume_task(id).result().await?.text())
/// }
/// # let _ = (begin, fetch);
/// ```
#[must_use = "dropping it cancels the task"]
pub struct TaskHandle {
    follower: Box<Follower>,
    /// The tool that was called, if this client called it.
    tool: Option<String>,
}

impl TaskHandle {
    /// Of a task of 2025-11-25 if `is_core`, otherwise of the extension.
    pub(super) fn created(client: Client, tool: &str, task: &DetailedTask, is_core: bool) -> Self {
        Self {
            follower: Box::new(Follower::created(client, task, None, is_core)),
            tool: Some(tool.to_owned()),
        }
    }

    pub(super) fn resumed(client: Client, id: String) -> Self {
        Self {
            follower: Box::new(Follower::resumed(client, id)),
            tool: None,
        }
    }

    /// Returns the id of the task, which is all that [`Client::resume_task`] needs.
    pub fn id(&self) -> &str {
        self.follower.task().id()
    }

    /// Returns the state that the server stated last; `None` for a resumed task that was not
    /// polled yet.
    pub fn state(&self) -> Option<&TaskState> {
        self.follower.task().state()
    }

    /// Waits for the next change of the task; `None` when it is over, be it because it cannot be
    /// followed: [`result`](Self::result) says how it ended.
    pub async fn next(&mut self) -> Option<TaskEvent> {
        poll_fn(|cx| self.follower.poll_event(cx)).await
    }

    /// Waits for the result of the call. Time limits of requests bound each poll, not the whole.
    ///
    /// # Errors
    /// [`CallError::Server`] with the error of a task that failed, or of a task that the server
    /// does not know; [`CallError::Task`] for one that was cancelled or is lost;
    /// [`CallError::Input`] if a callback refused one of its questions; else as for the requests
    /// that follow it.
    pub async fn result(mut self) -> Result<CallToolResult, CallError> {
        let result = self.follower.end().await?;
        if let Some(tool) = &self.tool {
            let client = &self.follower.task().requests.client;
            client.check_tool_result(tool, result.as_raw())?;
        }
        result.decode().map_err(CallError::Decode)
    }

    /// Asks the server to cancel the task, and returns when it has acknowledged that. The task
    /// may end in any way: [`next`](Self::next) and [`result`](Self::result) follow it further.
    ///
    /// # Errors
    /// Those of a request.
    pub async fn cancel(&mut self) -> Result<(), CallError> {
        self.follower.task_mut().cancel().await
    }

    /// Leaves the task to run, and returns its id.
    pub fn detach(mut self) -> String {
        let task = self.follower.task_mut();
        task.disown();
        task.id().to_owned()
    }
}

impl Stream for TaskHandle {
    type Item = TaskEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        self.get_mut().follower.poll_event(cx)
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("status", &self.state().map(|state| state.status))
            .finish_non_exhaustive()
    }
}
