//! Tasks of a client at a server of `mcp-async`.

use core::pin::pin;
use core::time::Duration;
use std::collections::HashMap;

use mcp_async::client::{CallError, TaskError};
use mcp_async::tasks::client::{TaskHandle, TaskOptions, ToolOutcome};
use mcp_async::tasks::server::Tasks;
use mcp_async::{Client, Clock};

use super::support::builder;
use crate::client_typed::support::{advance, poll_once, run};
use crate::server_typed::support::Offer;
use crate::sim::{Sim, settle};
use crate::tasks::support::{Running, server};

async fn join(listen: bool) -> (Client<Sim>, Running) {
    let (server, running) = server(Tasks::new());
    let builder = builder().tasks(TaskOptions::default().listen(listen));
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

/// TK-37, TK-38, TK-45
#[test]
fn a_plain_call_follows_its_task_and_answers_its_questions() {
    for listen in [false, true] {
        run(async {
            let (client, running) = join(listen).await;
            let begun = Sim.now();
            let result = client.call_tool("job", &job(2, 2)).await.unwrap();
            assert_eq!(result.text(), "done yes yes");
            let took = Sim.now().saturating_since(begun);
            assert!(took < Duration::from_secs(10), "{took:?}");
            if listen {
                // Each change is told when it happens.
                assert!(took < Duration::from_secs(1), "{took:?}");
            }
            assert_eq!(running.get(), 0);
            let failing = HashMap::from([("fail", "protocol")]);
            let error = client.call_tool("job", &failing).await.unwrap_err();
            assert!(matches!(error, CallError::Server(error) if error.code == -32603));
        });
    }
}

/// TK-42, TK-62
#[test]
fn cancelled_and_dropped_tasks_end_at_the_server() {
    for listen in [false, true] {
        run(async {
            let (client, running) = join(listen).await;
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
                let mut call = pin!(client.call_tool("job", &arguments));
                for _ in 0..3 {
                    assert!(poll_once(call.as_mut()).is_pending());
                    settle();
                    advance(Duration::from_millis(100));
                }
                assert_eq!(running.get(), 1);
            }
            settle();
            assert_eq!(running.get(), 0);
        });
    }
}

/// TK-37
#[test]
fn a_detached_task_is_resumed_at_the_server() {
    for listen in [false, true] {
        run(async {
            let (client, running) = join(listen).await;
            let id = begin(&client, 30).await.detach();
            advance(Duration::from_millis(500));
            assert_eq!(running.get(), 1);
            let result = client.resume_task(id).result().await.unwrap();
            assert_eq!(result.text(), "done");
            assert_eq!(running.get(), 0);
            let unknown = client.resume_task("unknown").result().await;
            assert!(matches!(unknown, Err(CallError::Server(error)) if error.code == -32602));
        });
    }
}
