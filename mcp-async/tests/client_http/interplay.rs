//! Our client and our server, joined without sockets.

use core::time::Duration;

use mcp_async::client::Update;
use mcp_async::model::{ElicitParams, ElicitResult};
use mcp_async::server::{Context, NoArguments};
use mcp_async::{Client, Server};
use mcp_proto::{Revision, RevisionSet};

use crate::sim::Sim;
use crate::site::{check, sleep};

/// Runs a script with a client of this revision and a server of all.
fn with<F: Future<Output = ()>>(revision: Revision, script: impl FnOnce(Client<Sim>) -> F) {
    check(
        |_| async move {
            let service = server().http().into_service();
            let client = Client::builder("t", "1")
                .revisions(RevisionSet::of(&[revision]))
                .on_elicitation(|_: ElicitParams| async { Ok(ElicitResult::decline()) })
                .connect_through("http://localhost/mcp", service)
                .await
                .unwrap();
            assert_eq!(client.info().revision, revision);
            script(client.clone()).await;
            client.close().await.unwrap();
        },
        |_| async {},
    );
}

fn server() -> Server<Sim> {
    Server::new("s", "1")
        .revisions(RevisionSet::of(&Revision::ALL))
        .tool("hello", "Greets", |_: NoArguments, _| async {
            Ok("Hello!")
        })
        .tool(
            "steps",
            "Counts",
            |_: NoArguments, cx: Context| async move {
                for step in 1..=3 {
                    let _ = cx.progress(f64::from(step)).await;
                    sleep(Duration::from_millis(50)).await;
                }
                Ok("done")
            },
        )
}

fn each<F: Future<Output = ()>>(script: impl Fn(Client<Sim>) -> F) {
    for revision in REVISIONS {
        with(*revision, &script);
    }
}

const REVISIONS: &[Revision] = &[
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

#[test]
fn calls() {
    each(|client| async move {
        assert_eq!(
            client.call_tool("hello", &()).await.unwrap().text(),
            "Hello!"
        );
        let tools = client.tools().all().await.unwrap();
        assert_eq!(tools.len(), 2);
        client.ping().await.unwrap();
        let error = client.call_tool("nothing", &()).await.unwrap_err();
        assert!(error.to_string().contains("-32602"), "{error}");
    });
}

#[test]
fn progress() {
    each(|client| async move {
        let mut steps = Vec::new();
        let done = client
            .call_tool("steps", &())
            .on_progress(|step| steps.push(step.progress.to_string()))
            .await
            .unwrap();
        assert_eq!(done.text(), "done");
        assert_eq!(steps, ["1", "2", "3"]);
    });
}

#[test]
fn many_calls_at_once() {
    each(|client| async move {
        let mut calls: Vec<_> = (0..20)
            .map(|_| {
                let client = client.clone();
                Box::pin(async move { client.call_tool("steps", &()).await.unwrap().text() })
            })
            .collect();
        for call in &mut calls {
            assert_eq!(call.as_mut().await, "done");
        }
    });
}

#[test]
fn a_closed_client_hears_no_changes() {
    each(|client| async move {
        let mut changes = client.changes().await.unwrap();
        client.close().await.unwrap();
        assert!(!matches!(changes.next().await, Some(Update::Tools)));
    });
}
