//! Tasks of a client at a server of `mcp-async`.

use core::pin::pin;
use core::time::Duration;
use mcp_async::in_memory;
use std::collections::HashMap;

use mcp_async::Client;
use mcp_async::client::{CallError, TaskError};
use mcp_async::runtime::Runtime;
use mcp_async::tasks::client::{TaskHandle, TaskOptions, ToolOutcome};
use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use super::support::{answering, poll_a_while};
use crate::client_typed::support::{advance, only, run};
use crate::server_typed::support::Offer;
use crate::sim::{Sim, settle};
use crate::tasks::support::{Running, server};

/// How the client learns of changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Polls,
    Subscriptions,
    /// Polls of tasks of 2025-11-25.
    CorePolls,
}

const ALL: [By; 3] = [By::Polls, By::Subscriptions, By::CorePolls];

async fn join(by: By) -> (Client, Running) {
    let (server, running) = server(Tasks::new().core_2025_11_25());
    let options = TaskOptions::default().listen(by == By::Subscriptions);
    let revision = match by {
        By::CorePolls => Revision::V2025_11_25,
        _ => Revision::V2026_07_28,
    };
    let builder = answering(only(revision)).tasks(options);
    let client = builder
        .connect(in_memory(Sim.into(), &server.server()))
        .await;
    (client.expect("it connects"), running)
}

fn job(steps: u32, ask: u32) -> HashMap<&'static str, u32> {
    HashMap::from([("steps", steps), ("ask", ask)])
}

async fn begin(client: &Client, steps: u32) -> TaskHandle {
    let outcome = client.call_tool_task("job_only", &job(steps, 0)).await;
    match outcome.unwrap() {
        ToolOutcome::Task(task) => task,
        ToolOutcome::Result(result) => panic!("{result:?}"),
    }
}

/// TK-06, TK-11, TK-12, TK-37, TK-38, TK-45
#[test]
fn a_plain_call_follows_its_task_and_answers_its_questions() {
    for by in ALL {
        run(async {
            let (client, running) = join(by).await;
            let begun = Sim.now();
            let result = client.call_tool("job_only", &job(2, 2)).await.unwrap();
            assert_eq!(result.text(), "done yes yes");
            let took = Sim.now().saturating_since(begun);
            assert!(took < Duration::from_secs(10), "{took:?}");
            if by == By::Subscriptions {
                // Each change is told when it happens.
                assert!(took < Duration::from_secs(1), "{took:?}");
            }
            settle();
            assert_eq!(running.get(), 0);
            let failing = HashMap::from([("fail", "protocol")]);
            let error = client.call_tool("job_only", &failing).await.unwrap_err();
            assert!(matches!(error, CallError::Server(error) if error.code == -32603));
            // Its tool forbids tasks.
            let result = client.call_tool("plain", &job(0, 1)).await.unwrap();
            assert_eq!(result.text(), "done yes");
        });
    }
}

/// TK-15, TK-42, TK-62
#[test]
fn cancelled_and_dropped_tasks_end_at_the_server() {
    for by in ALL {
        run(async {
            let (client, running) = join(by).await;
            let mut task = begin(&client, 9000).await;
            while task.state().unwrap().message.is_none() {
                task.next().await;
            }
            assert_eq!(running.get(), 1);
            task.cancel().await.unwrap();
            let ended = task.result().await.unwrap_err();
            assert!(matches!(ended, CallError::Task(TaskError::Cancelled(_))));
            settle();
            assert_eq!(running.get(), 0);
            {
                let arguments = job(9000, 0);
                let mut call = pin!(client.call_tool("job_only", &arguments));
                poll_a_while(call.as_mut());
                assert_eq!(running.get(), 1);
            }
            settle();
            assert_eq!(running.get(), 0);
            let task = begin(&client, 9000).await;
            let id = task.id().to_owned();
            drop(task);
            settle();
            assert_eq!(running.get(), 0);
            let ended = client.resume_task(id).result().await;
            let Err(CallError::Task(TaskError::Cancelled(_))) = ended else {
                panic!("{ended:?}");
            };
        });
    }
}

/// TK-37
#[test]
fn a_detached_task_is_resumed_at_the_server() {
    for by in ALL {
        run(async {
            let (client, running) = join(by).await;
            let id = begin(&client, 30).await.detach();
            advance(Duration::from_millis(500));
            assert_eq!(running.get(), 1);
            let result = client.resume_task(id).result().await.unwrap();
            assert_eq!(result.text(), "done");
            settle();
            assert_eq!(running.get(), 0);
            let unknown = client.resume_task("unknown").result().await;
            assert!(matches!(unknown, Err(CallError::Server(error)) if error.code == -32602));
        });
    }
}
