//! Handles and lists of tasks of 2025-11-25.

use mcp_async::Client;
use mcp_async::client::{CallError, TaskError};
use mcp_async::model::TaskStatus;
use mcp_async::tasks::client::{TaskEvent, TaskHandle, TaskOptions};

use super::support::{
    Asked, Log, Say, begin_task, core_polled, core_task, done, with_core_tasks, with_tasks,
};
use crate::client_typed::support::run;
use crate::sim::settle;

async fn client(answer: impl FnMut(&Asked) -> Say + 'static) -> (Client, Log) {
    with_core_tasks(TaskOptions::default(), answer).await
}

async fn statuses(task: &mut TaskHandle) -> Vec<TaskStatus> {
    let mut statuses = Vec::new();
    while let Some(event) = task.next().await {
        match event {
            TaskEvent::State(state) => statuses.push(state.status),
            other => panic!("{other:?}"),
        }
    }
    statuses
}

/// TK-08, TK-10
#[test]
fn a_handle_reports_each_change_once() {
    run(async {
        let (client, log) = client(core_polled(&["working", "working", "completed"], done)).await;
        let mut task = begin_task(&client, "maybe").await;
        assert_eq!(task.id(), "t");
        assert_eq!(task.state().unwrap().status, TaskStatus::Working);
        let expected = [TaskStatus::Working, TaskStatus::Completed];
        assert_eq!(statuses(&mut task).await, expected);
        assert_eq!(task.result().await.unwrap().text(), "done");
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

/// TK-15
#[test]
fn a_task_is_cancelled_detached_and_resumed() {
    run(async {
        let (client, log) = client(core_polled(&["cancelled"], done)).await;
        let mut task = begin_task(&client, "maybe").await;
        task.cancel().await.unwrap();
        let cancelled = TaskError::Cancelled(None);
        let ended = task.result().await;
        assert!(matches!(ended, Err(CallError::Task(error)) if error == cancelled));
        assert_eq!(log.count("tasks/cancel"), 1);
        // One that is not detached is cancelled with its handle.
        drop(begin_task(&client, "maybe").await);
        settle();
        assert_eq!(log.count("tasks/cancel"), 2);
    });
    run(async {
        let (client, log) = client(core_polled(&["working", "completed"], done)).await;
        let id = begin_task(&client, "maybe").await.detach();
        settle();
        assert_eq!(log.requests(), ["tools/list", "tools/call"]);
        let mut task = client.resume_task(id);
        assert!(task.state().is_none());
        let expected = [TaskStatus::Working, TaskStatus::Completed];
        assert_eq!(statuses(&mut task).await, expected);
        assert_eq!(task.result().await.unwrap().text(), "done");
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

/// TK-14, TK-17
#[test]
fn tasks_are_listed_page_after_page() {
    run(async {
        let (first, second) = (core_task("working", ""), core_task("completed", ""));
        let (client, log) = client(move |asked| match &*asked.text(&["cursor"]) {
            "-" => Say::Result(format!(r#"{{"tasks":[{first}],"nextCursor":"more"}}"#)),
            r#""more""# => Say::Result(format!(r#"{{"tasks":[{second}]}}"#)),
            _ => Say::Error(-32602),
        })
        .await;
        let tasks = client.tasks().all().await.unwrap();
        let tasks: Vec<_> = tasks.into_iter().map(|task| task.status).collect();
        assert_eq!(tasks, [TaskStatus::Working, TaskStatus::Completed]);
        let page = client.tasks().page(None).await.unwrap();
        assert_eq!(page.items[0].task_id, "t");
        assert_eq!(log.count("tasks/list"), 3);
        let unknown = client.tasks().page(Some("else".into())).await;
        assert!(matches!(unknown, Err(CallError::Server(error)) if error.code == -32602));
    });
    // The extension has no lists.
    run(async {
        let (client, log) = with_tasks(|_| Say::Nothing).await;
        assert!(matches!(
            client.tasks().page(None).await,
            Err(CallError::NotInRevision)
        ));
        assert_eq!(log.methods(), [""; 0]);
    });
}
