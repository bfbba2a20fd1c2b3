//! Calls that become tasks, of servers and of the server in front.

use core::time::Duration;

use mcp_async::client::ClientBuilder;
use mcp_async::model::{ElicitResult, LoggingLevel};
use mcp_async::runtime::within;
use mcp_async::server::{Context, Tool};
use mcp_async::tasks::client::{TaskOptions, ToolOutcome};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::{Revision, RevisionSet, Server, in_memory};
use mcp_compose::{Naming, Proxy, ServerEntry};

use super::caller;
use crate::support::{only, pause, run, runtime};

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Town {
    name: String,
}

/// A server of this revision, as a program is one: each connection has tasks of its own.
fn program(revision: Revision) -> ServerEntry {
    ServerEntry::connector("back", move || {
        let slow = Tool::new("slow").task(TaskPolicy::Optional);
        let slow = slow.handler(|(): (), cx: Context| async move {
            pause(3).await;
            cx.log(LoggingLevel::Error, "nearly there").await;
            let town = cx.elicit::<Town>("town", "Which town?").await?;
            Ok(town.accepted().map_or("none".to_owned(), |town| town.name))
        });
        let server = Server::builder("back", "1.0")
            .revisions(RevisionSet::of(&[revision]))
            .with(slow)
            .logging()
            .tasks(Tasks::new().core_2025_11_25());
        in_memory(runtime(), &server.build().expect("it is well formed"))
    })
}

fn person(revision: Revision) -> ClientBuilder {
    let client = only(revision).tasks(TaskOptions::default());
    client.on_elicitation(|_, _| async {
        let name = "Oslo".to_owned();
        Ok(ElicitResult::accept(&Town { name })?)
    })
}

#[test]
fn tasks_are_followed_in_all_pairs_of_eras_with_logs_and_without() {
    let both = [Revision::V2025_11_25, Revision::V2026_07_28];
    for (upstream, revision) in both
        .into_iter()
        .flat_map(|one| both.map(|other| (one, other)))
    {
        for logs in [false, true] {
            run(async {
                let proxy = Proxy::builder()
                    .entry(program(upstream))
                    .naming(Naming::bare());
                let proxy = proxy.start(runtime()).await;
                let front = Server::builder("front", "1.0").tasks(Tasks::new().core_2025_11_25());
                let front = proxy.server(front).expect("it is well formed");
                let client = caller(&front, person(revision)).await;
                let mut call = client.call_tool_task("slow", &());
                if logs && revision.is_legacy() {
                    let set = client.set_log_level(LoggingLevel::Debug).await;
                    set.expect("it logs");
                } else if logs {
                    call = call.with_logs(LoggingLevel::Debug);
                }
                let result = match call.await.expect("an outcome") {
                    ToolOutcome::Task(task) => {
                        let result = within(&runtime(), Duration::from_secs(60), task.result());
                        result.await.expect("it ends").expect("a result")
                    }
                    ToolOutcome::Result(result) => result,
                };
                assert_eq!(result.text(), "Oslo", "{upstream} {revision} {logs}");
            });
        }
    }
}
