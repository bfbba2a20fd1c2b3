//! Calls that become tasks.

use serde::Serialize;

use super::Driver;
use super::check::{Outcome, check, refused};
use mcp_async::client::{CallError, TaskError};
use mcp_async::model::TaskStatus;
use mcp_async::tasks::client::{TaskEvent, TaskHandle, TaskOptions, ToolOutcome};
use mcp_proto::rpc::code::{INTERNAL_ERROR, INVALID_PARAMS};
use mcp_proto::{Payload, Revision};

impl Driver {
    pub(super) fn has_tasks(&self) -> bool {
        let tasks = [Revision::V2025_11_25, Revision::V2026_07_28];
        tasks.contains(&self.revision())
    }

    pub(super) async fn tasks(&self) -> Outcome {
        // The call follows its task.
        let answer = self.text("slow_compute", &SHORT).await?;
        check!(answer.starts_with("computed sum"), answer);
        // A handle tells of its states.
        let mut task = self.begin("slow_compute", &SHORT).await?;
        let state = task.state().cloned();
        check!(
            state.is_some_and(|state| state.status == TaskStatus::Working),
            task
        );
        let mut last = None;
        while let Some(event) = task.next().await {
            if let TaskEvent::State(state) = event {
                last = Some(state.status);
            }
        }
        check!(last == Some(TaskStatus::Completed), last);
        let answer = task.result().await?.text();
        check!(answer.starts_with("computed sum"), answer);
        // An id is enough to find it again.
        let id = self.begin("slow_compute", &SHORT).await?.detach();
        let answer = self.client.resume_task(id).result().await?.text();
        check!(answer.starts_with("computed sum"), answer);
        Ok(())
    }

    pub(super) async fn task_input(&self) -> Outcome {
        let file = File { filename: "a.txt" };
        let answer = self.text("confirm_delete", &file).await?;
        check!(answer == "a.txt is deleted", answer);
        self.person.memory().declines = true;
        let answer = self.text("confirm_delete", &file).await;
        self.person.memory().declines = false;
        let answer = answer?;
        check!(answer == "a.txt is kept", answer);

        let mut task = self.begin("multi_input", &()).await?;
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        while let Some(event) = task.next().await {
            match event {
                TaskEvent::Asked(keys) => asked.extend(keys),
                TaskEvent::Answered(keys) => answered.extend(keys),
                _ => {}
            }
        }
        if self.revision().is_modern() {
            asked.sort_unstable();
            answered.sort_unstable();
            check!(asked == ["first", "second"], asked);
            check!(answered == asked, answered);
        }
        let answer = task.result().await?.text();
        check!(answer == "ada, ada", answer);
        Ok(())
    }

    pub(super) async fn task_errors(&self) -> Outcome {
        let answer = self.client.call_tool("failing_job", &()).await?;
        check!(answer.is_error && !answer.text().is_empty(), answer);
        let answer = self.client.call_tool("protocol_error_job", &()).await;
        refused(answer, &[INTERNAL_ERROR])?;
        let mut unknown = self.client.resume_task("no such task");
        refused(unknown.cancel().await, &[INVALID_PARAMS])?;
        refused(unknown.result().await, &[INVALID_PARAMS])
    }

    pub(super) async fn task_cancel(&self) -> Outcome {
        let mut task = self.begin("slow_compute", &LONG).await?;
        task.cancel().await?;
        cancelled(task).await?;
        // A handle that is dropped cancels its task, whatever the task waits for.
        let task = self.begin("slow_compute", &LONG).await?;
        let id = task.id().to_owned();
        drop(task);
        cancelled(self.client.resume_task(id)).await
    }

    /// Follows a task by a subscription on a connection of its own. Where the server accepts none,
    /// the task is polled.
    pub(super) async fn task_listen(&self) -> Outcome {
        let listens = TaskOptions::default().listen(true);
        let builder = self.person.speak(self.revisions).tasks(listens);
        let client = self.server.connect(&self.runtime, builder).await?;
        let answer = client.call_tool("slow_compute", &SHORT).await?.text();
        check!(answer.starts_with("computed sum"), answer);
        let file = File { filename: "a.txt" };
        let answer = client.call_tool("confirm_delete", &file).await?.text();
        check!(answer == "a.txt is deleted", answer);
        client.close().await?;
        Ok(())
    }

    /// Calls a tool that makes a task.
    async fn begin(&self, name: &str, arguments: &(impl Payload + Sync)) -> Outcome<TaskHandle> {
        match self.client.call_tool_task(name, arguments).await? {
            ToolOutcome::Task(task) => Ok(task),
            ToolOutcome::Result(result) => Err(format!("{name} is no task: {result:?}").into()),
        }
    }
}

async fn cancelled(task: TaskHandle) -> Outcome {
    match task.result().await {
        Err(CallError::Task(TaskError::Cancelled(_))) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

#[derive(Serialize)]
struct Compute {
    seconds: f64,
    label: &'static str,
}

#[derive(Serialize)]
struct File {
    filename: &'static str,
}

const SHORT: Compute = Compute {
    seconds: 0.3,
    label: "sum",
};

const LONG: Compute = Compute {
    seconds: 60.0,
    ..SHORT
};
