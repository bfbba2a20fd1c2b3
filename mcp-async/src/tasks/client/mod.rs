//! Tasks of a client: results that a server returns later.
//!
//! [`ClientBuilder::tasks`] declares the extension. From then on a server may answer the call of a
//! tool with a task, and a plain [`Client::call_tool`] follows it: it polls at the server's
//! interval, answers the server's questions by the callbacks of the client, and returns the
//! result. Dropping its future cancels the task, also one whose creation is answered after that: the
//! client recognizes the late answers to as many calls as may be
//! [in flight](mcp_proto::Limits::in_flight). [`Client::call_tool_task`] returns a handle of the task
//! instead, and [`Client::resume_task`] makes one from an id. At most 1024 cancellations wait to be
//! sent; the tasks of further ones run to their ends.
//!
//! Servers of 2025-11-25 have tasks without an extension: the client asks for one, where the server
//! and the tool allow it. A plain call asks for a task if the tool requires it, as the
//! [list of tools](Client::tools) says, and `call_tool_task` whenever the tool allows it. Such a
//! server may also ask for tasks itself, if the client [declares](TaskOptions::questions) that its
//! answers may take long.
//!
//! ```
//! use mcp_async::Client;
//! use mcp_async::client::CallError;
//! use mcp_async::tasks::client::{TaskEvent, ToolOutcome};
//!
//! async fn export(client: &Client) -> Result<String, CallError> {
//!     let mut task = match client.call_tool_task("export", &()).await? {
//!         ToolOutcome::Result(result) => return Ok(result.text()),
//!         ToolOutcome::Task(task) => task,
//!     };
//!     while let Some(event) = task.next().await {
//!         if let TaskEvent::State(state) = event {
//!             println!("{:?}", state.message);
//!         }
//!     }
//!     Ok(task.result().await?.text())
//! }
//! # let _ = export;
//! ```

mod asked_keys;
mod event;
mod followed_task;
mod follower;
mod handle;
mod legacy;
mod options;
mod pace;
mod questions;
mod requests;

use std::sync::Arc;

use mcp_proto::Payload;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::TaskMetadata;
use mcp_proto::revision::Tasks;

pub use self::event::{TaskEvent, TaskState};
use self::followed_task::invalid;
use self::follower::Follower;
pub use self::handle::{TaskHandle, ToolOutcome};
pub use self::options::TaskOptions;
use self::requests::Params;
use super::time::{SAFE, millis};
use crate::client::{
    CallError, Client, ClientBuilder, Continuation, Extension, Request, is_created,
};
use crate::model::{CreateTaskResult, DetailedTask, Task};

impl<S: Send + Sync + 'static> ClientBuilder<S> {
    /// Declares the extension for tasks, so that a server may answer the call of a tool
    /// with one, and asks servers of 2025-11-25 for tasks of the tools that require them. See [`tasks::client`](crate::tasks::client).
    pub fn tasks(self, options: TaskOptions) -> Self {
        // TK-65
        let metadata = TaskMetadata {
            ttl: options.ttl.map(|ttl| millis(ttl).min(SAFE)),
        };
        let questions = legacy::Questions::new(options.questions, options.longest_question);
        let extension = Extension::new(EXTENSION)
            .data(options)
            .result_type("task", &["tools/call"], follow)
            .late_result("task", cancellation)
            .core_tasks(metadata);
        self.extension(extension).question_tasks(questions)
    }
}

impl Client {
    /// Calls a tool like [`call_tool`](Self::call_tool), and returns a handle if the server makes
    /// a task of the call. A server of 2025-11-25 is asked for a task if the tool allows it;
    /// the tools are listed first if this tool was not listed yet.
    pub fn call_tool_task<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> Request<'a, ToolOutcome> {
        self.call_tool_unfollowed(name, arguments, |inner, tool, result| {
            let client = Self::of(Arc::clone(inner));
            let tasks = client.info().revision.tasks();
            if let Some(task) = created(result, tasks) {
                let task = TaskHandle::created(client, tool, &task?, tasks == Tasks::Core);
                return Ok(ToolOutcome::Task(task));
            }
            client.check_tool_result(tool, result)?;
            let result = result.decode(&mut []).map_err(CallError::Decode)?;
            Ok(ToolOutcome::Result(result))
        })
    }

    /// Returns a handle of a task that this client, or another one of the same user, created
    /// before. Nothing is sent until the handle is awaited; what the server does not know
    /// is [`CallError::Server`] with code -32602 then.
    pub fn resume_task(&self, id: impl Into<String>) -> TaskHandle {
        TaskHandle::resumed(self.clone(), id.into())
    }
}

/// Reads the answer that creates a task; `None` for the result of a call.
fn created(result: Raw<'_>, tasks: Tasks) -> Option<Result<DetailedTask, CallError>> {
    let kind = || result.object()?.get("resultType")?.string();
    let task = match tasks {
        Tasks::Extension if kind().is_some_and(|kind| kind == "task") => result.decode(&mut []),
        Tasks::Core if is_created(result) => {
            let created = result.decode::<CreateTaskResult>(&mut []);
            created.map(|created| detailed(created.task))
        }
        _ => return None,
    };
    Some(match task {
        Ok(task) if task.task_id.is_empty() => Err(invalid("its id is empty")),
        task => task.map_err(CallError::Decode),
    })
}

/// A task of 2025-11-25 as the extension has it.
fn detailed(task: Task) -> DetailedTask {
    DetailedTask {
        task_id: task.task_id,
        status: task.status,
        status_message: task.status_message,
        created_at: task.created_at,
        last_updated_at: task.last_updated_at,
        ttl_ms: task.ttl,
        poll_interval_ms: task.poll_interval,
        input_requests: None,
        result: None,
        error: None,
        meta: task.meta,
    }
}

/// Continues from the answer that created a task.
async fn follow(continuation: Continuation) -> End {
    let (client, timeout) = (continuation.client().clone(), continuation.timeout());
    let tasks = client.info().revision.tasks();
    let task = created(continuation.result(), tasks).ok_or(invalid("there is none"))??;
    let follower = Follower::created(client, &task, timeout, tasks == Tasks::Core);
    let follower = Box::new(follower);
    follower.end_within(continuation.max_duration()).await
}

/// The request that cancels a task whose call is over (TK-54, TK-62).
fn cancellation(result: Raw<'_>) -> Option<(&'static str, RawBuf)> {
    let created = |tasks| created(result, tasks);
    let task = created(Tasks::Extension)
        .or_else(|| created(Tasks::Core))?
        .ok()?;
    let params = Params {
        task_id: &task.task_id,
    };
    Some(("tasks/cancel", RawBuf::encode(&params).ok()?))
}

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The outcome of a task: the result of the request that created it, or an error.
type End = Result<RawBuf, CallError>;
