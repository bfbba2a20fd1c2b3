//! Tasks of 2025-11-25 of a client at a server of `mcp-async`.

use std::collections::HashMap;

use mcp_async::Client;
use mcp_async::client::{CallError, TaskError};
use mcp_async::model::ElicitResult;
use mcp_async::tasks::client::{TaskHandle, TaskOptions, ToolOutcome};
use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use crate::client_typed::support::{only, run};
use crate::server_typed::support::Offer;
use crate::sim::{Sim, settle};
use crate::tasks::support::{Running, server};

async fn join() -> (Client<Sim>, Running) {
    let (server, running) = server(Tasks::new().core_2025_11_25());
    let builder = only(Revision::V2025_11_25)
        .tasks(TaskOptions::default())
        .on_elicitation(|_, _| async {
            Ok(ElicitResult::accept(&HashMap::from([("answer", "yes")]))?)
        });
    let client = builder.in_memory(&server.server()).await;
    (client.expect("it connects"), running)
}

fn job(steps: u32, ask: u32) -> HashMap<&'static str, u32> {
    HashMap::from([("steps", steps), ("ask", ask)])
}

async fn begin(client: &Client<Sim>, steps: u32) -> TaskHandle {
    match client.call_tool_task("job", &job(steps, 0)).await.unwrap() {
        ToolOutcome::Task(task) => task,
        ToolOutcome::Result(result) => panic!("{result:?}"),
    }
}

/// TK-06, TK-11, TK-12
#[test]
fn a_plain_call_follows_its_task_and_answers_its_questions() {
    run(async {
        let (client, running) = join().await;
        let result = client.call_tool("job_only", &job(2, 2)).await.unwrap();
        assert_eq!(result.text(), "done yes yes");
        let result = client.call_tool("plain", &job(0, 1)).await.unwrap();
        assert_eq!(result.text(), "done yes");
        let result = begin(&client, 3).await.result().await.unwrap();
        assert_eq!(result.text(), "done");
        settle();
        assert_eq!(running.get(), 0);
    });
}

/// TK-15
#[test]
fn cancelled_and_dropped_tasks_end_at_the_server() {
    run(async {
        let (client, running) = join().await;
        let mut task = begin(&client, 1000).await;
        settle();
        assert_eq!(running.get(), 1);
        task.cancel().await.unwrap();
        assert!(matches!(
            task.result().await,
            Err(CallError::Task(TaskError::Cancelled(_)))
        ));
        let task = begin(&client, 1000).await;
        let id = task.id().to_owned();
        drop(task);
        settle();
        assert_eq!(running.get(), 0);
        assert!(matches!(
            client.resume_task(id).result().await,
            Err(CallError::Task(TaskError::Cancelled(_)))
        ));
    });
}
