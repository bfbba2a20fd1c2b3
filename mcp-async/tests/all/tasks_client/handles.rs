//! Handles of tasks.

use mcp_async::client::{CallError, TaskError};
use mcp_async::model::TaskStatus;
use mcp_async::tasks::client::{TaskEvent, TaskHandle, ToolOutcome};

use super::support::{Say, asking, begin_task, completed, polled, task, with_tasks};
use crate::client_typed::support::run;
use crate::sim::settle;

fn message(message: &str) -> Say {
    Say::Result(task("working", &format!(r#","statusMessage":"{message}""#)))
}

/// What a handle reports, in words.
async fn report(task: &mut TaskHandle) -> Vec<String> {
    let mut report = Vec::new();
    while let Some(event) = task.next().await {
        report.push(match event {
            TaskEvent::State(state) => {
                let message = state.message.unwrap_or_default();
                format!("{:?} {message}", state.status)
            }
            TaskEvent::Asked(keys) => format!("asked {}", keys.join(" ")),
            TaskEvent::Answered(keys) => format!("answered {}", keys.join(" ")),
            other => format!("{other:?}"),
        });
    }
    report
}

/// TK-62
#[test]
fn a_handle_reports_each_change_once() {
    run(async {
        let (client, _) = with_tasks(polled(vec![
            message("1/2"),
            message("1/2"),
            asking(&[("a", "one"), ("b", "two")]),
            message("2/2"),
            completed("done"),
        ]))
        .await;
        let mut task = begin_task(&client, "job").await;
        assert_eq!(task.id(), "t");
        assert_eq!(task.state().unwrap().status, TaskStatus::Working);
        assert_eq!(
            report(&mut task).await,
            [
                "Working ",
                "Working 1/2",
                "InputRequired ",
                "asked a b",
                "answered a b",
                "Working 2/2",
                "Completed "
            ]
        );
        assert_eq!(task.result().await.unwrap().text(), "done");
    });
}

#[test]
fn a_result_at_once_is_an_outcome_too() {
    run(async {
        let result = r#"{"resultType":"complete","content":[{"type":"text","text":"now"}]}"#;
        let (client, log) = with_tasks(move |_| Say::Result(result.to_owned())).await;
        let outcome = client.call_tool_task("job", &()).await.unwrap();
        assert!(matches!(outcome, ToolOutcome::Result(_)));
        assert_eq!(outcome.result().await.unwrap().text(), "now");
        assert_eq!(log.methods(), ["tools/call"]);
    });
}

/// TK-42, TK-54
#[test]
fn a_cancelled_task_is_followed_to_its_end() {
    run(async {
        let cancelled = Say::Result(task("cancelled", ""));
        let (client, log) = with_tasks(polled(vec![message("1/9"), cancelled])).await;
        let mut task = begin_task(&client, "job").await;
        while task.state().unwrap().message.is_none() {
            task.next().await;
        }
        task.cancel().await.unwrap();
        let ended = task.result().await;
        assert!(matches!(
            ended,
            Err(CallError::Task(TaskError::Cancelled(None)))
        ));
        settle();
        assert_eq!(
            log.methods(),
            ["tools/call", "tasks/get", "tasks/cancel", "tasks/get"]
        );
    });
}

/// TK-37
#[test]
fn a_task_is_resumed_by_its_id() {
    run(async {
        let (client, log) = with_tasks(polled(vec![message("1/2"), completed("done")])).await;
        let id = begin_task(&client, "job").await.detach();
        settle();
        assert_eq!(log.methods(), ["tools/call"]);
        let mut task = client.resume_task(id);
        assert!(task.state().is_none());
        assert_eq!(report(&mut task).await, ["Working 1/2", "Completed "]);
        assert_eq!(task.result().await.unwrap().text(), "done");
        // One that is not detached is cancelled with its handle.
        drop(begin_task(&client, "job").await);
        settle();
        assert_eq!(log.count("tasks/cancel"), 1);
    });
}
