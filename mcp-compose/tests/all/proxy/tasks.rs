//! Calls that become tasks, of servers and of the server in front.

use core::time::Duration;

use mcp_async::client::ClientBuilder;
use mcp_async::model::{ElicitResult, LoggingLevel};
use mcp_async::runtime::within;
use mcp_async::server::{Context, Tool};
use mcp_async::tasks::client::{TaskOptions, ToolOutcome};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::{Client, Revision, RevisionSet, Server, in_memory};
use mcp_compose::{Naming, Proxy, ProxyBuilder, ProxyLimits, ServerEntry};

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

/// The server in front, which has tasks, too.
fn front(proxy: &Proxy) -> Server {
    let front = Server::builder("front", "1.0").tasks(Tasks::new().core_2025_11_25());
    proxy.server(front).expect("it is well formed")
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
                let client = caller(&front(&proxy), person(revision)).await;
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

/// A server of 2026-07-28, as a program is one, whose task takes 15 minutes and is kept for this time.
fn lasting(ttl: Option<Duration>) -> ServerEntry {
    ServerEntry::connector("back", move || {
        let late = Tool::new("late").task(TaskPolicy::Required);
        let late = late.handler(|(): (), _: Context| async {
            pause(900).await;
            Ok("at last")
        });
        let server = Server::builder("back", "1.0")
            .revisions(RevisionSet::of(&[Revision::V2026_07_28]))
            .with(late)
            .tasks(Tasks::new().ttl(ttl));
        in_memory(runtime(), &server.build().expect("it is well formed"))
    })
}

/// A proxy for that server.
fn before_lasting(ttl: Option<Duration>) -> ProxyBuilder {
    let proxy = Proxy::builder().entry(lasting(ttl));
    proxy.naming(Naming::bare())
}

/// Begins the task, and returns its id.
async fn begin(client: &Client) -> String {
    match client.call_tool_task("late", &()).await {
        Ok(ToolOutcome::Task(task)) => task.detach(),
        other => panic!("no task: {other:?}"),
    }
}

#[test]
fn a_session_is_kept_for_as_long_as_its_task() {
    let minutes = |count: u64| Duration::from_secs(60 * count);
    // One that has no time counts as a call, which takes an hour at most.
    for (ttl, least) in [(Some(minutes(30)), 30), (None, 60)] {
        run(async {
            let proxy = before_lasting(ttl).start(runtime()).await;
            let client = caller(&front(&proxy), person(Revision::V2026_07_28)).await;
            let id = begin(&client).await;
            pause(60 * 20).await;
            assert_eq!(proxy.in_use().0, 2, "{ttl:?}");
            // Who asks for it keeps it.
            let mut task = client.resume_task(&id);
            assert!(task.next().await.is_some(), "{ttl:?}");
            task.detach();
            pause(60 * (least - 1)).await;
            assert_eq!(proxy.in_use().0, 2, "{ttl:?}");
            pause(60 * 7).await;
            assert_eq!(proxy.in_use().0, 1, "{ttl:?}");
        });
    }
}

#[test]
fn a_server_with_a_task_does_not_rest() {
    run(async {
        let mut limits = ProxyLimits::default();
        (limits.idle, limits.held_time) = (Duration::from_secs(60), Duration::from_secs(60));
        let proxy = before_lasting(Some(Duration::from_secs(1_800)));
        let proxy = proxy.limits(limits).end_idle_servers(true);
        let proxy = proxy.start(runtime()).await;
        let client = only(Revision::V2026_07_28).tasks(TaskOptions::default());
        let client = caller(&front(&proxy), client).await;
        let id = begin(&client).await;
        pause(1_000).await;
        let result = client.resume_task(&id).result().await;
        assert_eq!(result.expect("a result").text(), "at last");
        pause(2_000).await;
        assert_eq!(proxy.in_use().0, 0);
    });
}
