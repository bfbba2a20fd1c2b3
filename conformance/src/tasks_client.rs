//! The client of `fixture client tasks`: calls that become tasks, printed as JSON lines.

use core::future::Future;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io;

use mcp_async::client::{CallError, Connector, child};
use mcp_async::http::HttpConnector;
use mcp_async::model::{ElicitResult, TaskStatus};
use mcp_async::process::Command;
use mcp_async::runtime::RuntimeHandle;
use mcp_async::tasks::client::{TaskEvent, TaskHandle, TaskOptions, ToolOutcome};
use mcp_async::{Client, ErrorChain};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};
use serde::Serialize;

use crate::client::{limit, step, usage};
use crate::line::Line;

/// Starts the command and goes through the script.
///
/// # Errors
///
/// See [`script`].
pub(crate) async fn stdio(runtime: RuntimeHandle, program: &str, args: &[&str]) -> io::Result<()> {
    let command = Command::new(program).args(args);
    script(&runtime, child(runtime.clone(), command)).await
}

/// Connects to the URL and goes through the script.
///
/// # Errors
///
/// See [`script`].
pub(crate) async fn http(runtime: RuntimeHandle, url: &str) -> io::Result<()> {
    script(&runtime, HttpConnector::new(&runtime, url)).await
}

/// Every step is tried, whatever happened to the one before. With `MCP_TASK_RESUME` there is one
/// step, which follows that task.
///
/// # Errors
///
/// Connecting failed, which has a line of its own, or a line cannot be printed.
async fn script(runtime: &RuntimeHandle, server: impl Connector) -> io::Result<()> {
    let limit = limit()?;
    let builder = Client::builder("fixture", env!("CARGO_PKG_VERSION"))
        .revisions(RevisionSet::of(&[Revision::V2026_07_28]))
        .tasks(TaskOptions::default().listen(listens()?))
        .on_elicitation(|_, _| async {
            let answer = BTreeMap::from([("answer", "yes")]);
            Ok(ElicitResult::accept(&answer)?)
        });
    let client = match step(runtime, limit, builder.connect(server)).await {
        Ok(client) => client,
        Err(error) => {
            let line = Line::new("connect", None);
            line.failed(error.clone()).print()?;
            return Err(io::Error::other(error));
        }
    };
    let tasks = client.server_extension("io.modelcontextprotocol/tasks");
    Line {
        tasks: Some(tasks.is_some()),
        ..Line::new("connect", None)
    }
    .print()?;

    let script = Script {
        runtime,
        client,
        limit,
    };
    match std::env::var("MCP_TASK_RESUME") {
        Ok(id) => script.follow(8, script.client.resume_task(id)).await?,
        Err(_) => script.calls().await?,
    }
    let closed = step(runtime, limit, script.client.close()).await;
    let line = Line::new("close", None);
    match closed {
        Ok(_) => line,
        Err(error) => line.failed(error),
    }
    .print()
}

/// `MCP_TASK_MODE`: `poll`, or `listen` to subscribe to changes.
fn listens() -> io::Result<bool> {
    match std::env::var("MCP_TASK_MODE").as_deref() {
        Err(_) | Ok("poll" | "") => Ok(false),
        Ok("listen") => Ok(true),
        Ok(_) => Err(usage("MCP_TASK_MODE")),
    }
}

struct Script<'r> {
    runtime: &'r RuntimeHandle,
    client: Client,
    limit: Duration,
}

impl Script<'_> {
    /// Waits for the time of one line at most.
    async fn step<T>(
        &self,
        doing: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, String> {
        step(self.runtime, self.limit, doing).await
    }

    async fn calls(&self) -> io::Result<()> {
        let job = |steps, ms| Job {
            steps,
            ms,
            ..Job::default()
        };
        let fails = |how| Job {
            fail: Some(how),
            ..job(2, 20)
        };
        let asks = Job {
            ask: Some(2),
            ..job(4, 20)
        };
        self.by_handle(1, "job", &job(5, 20)).await?;
        self.by_handle(2, "job", &asks).await?;
        self.by_handle(3, "job", &job(1000, 20)).await?;
        self.by_handle(4, "job", &fails("protocol")).await?;
        self.by_handle(5, "job", &fails("tool")).await?;
        let job = job(5, 20);
        match self.step(self.client.call_tool("job", &job)).await {
            Ok(result) => Line::result(6, &result),
            Err(error) => Line::new("result", Some(6)).failed(error),
        }
        .print()?;
        self.by_handle(7, "echo", &Echo { text: "ping" }).await
    }

    async fn by_handle(
        &self,
        n: u8,
        tool: &str,
        arguments: &(impl Serialize + Sync),
    ) -> io::Result<()> {
        let call = self.client.call_tool_task(tool, arguments);
        let outcome = self.step(call).await;
        let line = Line::new("create", Some(n));
        match outcome {
            Ok(ToolOutcome::Task(task)) => {
                let id = RawBuf::encode(task.id()).map_err(io::Error::other)?;
                Line {
                    task: Some(id),
                    ..line
                }
                .print()?;
                self.follow(n, task).await
            }
            Ok(ToolOutcome::Result(result)) => {
                Line {
                    task: Some(RawBuf::new()),
                    ..line
                }
                .print()?;
                Line::result(n, &result).print()
            }
            Err(error) => line.failed(error).print(),
        }
    }

    /// Follows a task to its end; the third is cancelled after its first state.
    async fn follow(&self, n: u8, mut task: TaskHandle) -> io::Result<()> {
        let mut cancels = n == 3;
        loop {
            let event = async { Ok::<_, CallError>(task.next().await) };
            match self.step(event).await {
                Ok(Some(event)) => tell(n, event)?,
                Ok(None) => break,
                // Dropping the handle cancels the task.
                Err(error) => return Line::new("result", Some(n)).failed(error).print(),
            }
            if core::mem::take(&mut cancels) {
                let line = Line::new("cancel", Some(n));
                match self.step(task.cancel()).await {
                    Ok(()) => line,
                    Err(error) => line.failed(error),
                }
                .print()?;
            }
        }
        let status = task.state().map(|state| state.status);
        let status = status.filter(|status| status.is_terminal());
        let line = Line {
            status,
            ..Line::new("result", Some(n))
        };
        match (task.result().await, status) {
            (Ok(result), _) => Line::result(n, &result),
            (Err(CallError::Server(error)), Some(TaskStatus::Failed)) => Line {
                code: Some(error.code),
                ..line.failed(error.message.into_owned())
            },
            (Err(error), _) => line.failed(ErrorChain(&error).to_string()),
        }
        .print()
    }
}

fn tell(n: u8, event: TaskEvent) -> io::Result<()> {
    match event {
        TaskEvent::State(state) => Line {
            ok: None,
            status: Some(state.status),
            message: state.message,
            ..Line::new("status", Some(n))
        },
        TaskEvent::Asked(keys) => Line {
            ok: None,
            keys: Some(keys),
            ..Line::new("input", Some(n))
        },
        TaskEvent::Answered(_) => Line::new("update", Some(n)),
        _ => return Ok(()),
    }
    .print()
}

#[derive(Default, Serialize)]
struct Job {
    steps: u32,
    ms: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fail: Option<&'static str>,
}

#[derive(Serialize)]
struct Echo {
    text: &'static str,
}
