//! The lists of a server in front of others.

use mcp_async::server::{ListKind, Principal, Tool};
use mcp_async::{Client, Revision, RevisionSet, Server, in_memory};
use mcp_compose::{Proxy, ServerEntry};

use super::{caller, entry, front};
use crate::support::{in_each_revision, only, run, runtime, tools};

async fn names(client: &Client) -> Vec<String> {
    let tools = client.tools().all().await.expect("the tools");
    tools.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn the_items_of_all_servers_stand_beside_those_of_the_builder() {
    in_each_revision(|revision| async move {
        let proxy = Proxy::builder()
            .entry(entry("a", &tools(&["echo", "say"])))
            .entry(entry("b", &tools(&["echo"])))
            .entry(entry("c", &tools(&["never"])).disabled(true))
            .start(runtime())
            .await;
        let server = proxy.server(tools(&["own"])).expect("it is well formed");
        let client = caller(&server, only(revision)).await;
        assert_eq!(
            names(&client).await,
            ["a__echo", "a__say", "b__echo", "own"]
        );
        assert_eq!(
            client
                .call_tool("a__say", &())
                .await
                .expect("a result")
                .text(),
            "say"
        );
        assert_eq!(
            client.call_tool("own", &()).await.expect("a result").text(),
            "own"
        );
    });
}

#[test]
fn changes_of_a_list_reach_the_callers() {
    in_each_revision(|revision| async move {
        let back = tools(&["one"])
            .change_notifications()
            .build()
            .expect("it is well formed");
        let registry = back.registry();
        let proxy = Proxy::builder()
            .entry(ServerEntry::connector("back", move || {
                in_memory(runtime(), &back)
            }))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(revision)).await;
        let mut changes = client.changes().await.expect("a subscription");
        registry
            .add(Tool::new("two").handler(|(): (), _| async { Ok("two") }))
            .expect("it is well formed");
        while names(&client).await != ["back__one", "back__two"] {
            changes.next().await.expect("a change");
        }
        registry.remove_tool("one");
        while names(&client).await != ["back__two"] {
            changes.next().await.expect("a change");
        }
        registry.list_changed(ListKind::Tools);
        assert_eq!(
            client
                .call_tool("back__two", &())
                .await
                .expect("a result")
                .text(),
            "two"
        );
    });
}

#[test]
fn servers_are_added_and_removed_while_it_runs() {
    run(async {
        let proxy = Proxy::builder().start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2025_11_25)).await;
        assert!(names(&client).await.is_empty());
        proxy.add(entry("a", &tools(&["echo"]))).await;
        proxy.add(entry("b", &tools(&["echo"]))).await;
        while names(&client).await.len() < 2 {
            client.ping().await.expect("it is alive");
        }
        assert!(proxy.remove("a"));
        assert!(!proxy.remove("a"));
        while names(&client).await != ["b__echo"] {
            client.ping().await.expect("it is alive");
        }
        assert_eq!(proxy.states().len(), 1);
    });
}

#[test]
fn filters_decide_what_is_offered_and_to_whom() {
    run(async {
        let proxy = Proxy::builder()
            .entry(entry("a", &tools(&["read", "write", "drop"])))
            .expose(|server, name| server == "a" && name != "drop")
            .visible_to(|_, name, caller: Option<&Principal>| name != "write" || caller.is_some())
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["a__read"]);
        assert!(client.call_tool("a__write", &()).await.is_err());
        assert!(client.call_tool("a__drop", &()).await.is_err());
    });
}

#[test]
fn an_item_that_no_server_may_have_is_left_out_and_reported() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}"#;
    let listing = format!(
        r#"{{"tools":[{{"name":"bad","inputSchema":{schema}}},{{"name":"good","inputSchema":{{"type":"object"}}}}]}}"#
    );
    run(async {
        let entry = ServerEntry::connector("back", move || {
            let listing = listing.clone();
            crate::support::answering(move |method, _| {
                Ok(match method {
                    "tools/list" => listing.clone(),
                    _ => r#"{"resources":[],"resourceTemplates":[]}"#.to_owned(),
                })
            })
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["back__good"]);
        let left_out = proxy.left_out();
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert_eq!(left_out[0].name(), "back__bad");
    });
}

#[test]
fn a_server_that_ends_is_connected_again() {
    run(async {
        let back = tools(&["echo"])
            .revisions(RevisionSet::of(&[Revision::V2025_11_25]))
            .build()
            .expect("it is well formed");
        let current = std::sync::Arc::new(std::sync::Mutex::new(back));
        let connected = std::sync::Arc::clone(&current);
        let entry = ServerEntry::connector("back", move || {
            in_memory(runtime(), &connected.lock().expect("no panic"))
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(
            client
                .call_tool("back__echo", &())
                .await
                .expect("a result")
                .text(),
            "echo"
        );
        let next = tools(&["echo", "more"]).build().expect("it is well formed");
        let before = core::mem::replace(&mut *current.lock().expect("no panic"), next);
        before.registry().shutdown();
        drop(before);
        let pause = core::time::Duration::from_millis(100);
        mcp_async::runtime::within(&runtime(), pause, core::future::pending::<()>()).await;
        // Its items stay, and fail.
        let error = client
            .call_tool("back__echo", &())
            .await
            .expect_err("it is gone")
            .to_string();
        assert!(error.contains("the server `back`"), "{error}");
        while names(&client).await != ["back__echo", "back__more"] {
            mcp_async::runtime::within(&runtime(), pause, core::future::pending::<()>()).await;
        }
        assert_eq!(
            client
                .call_tool("back__echo", &())
                .await
                .expect("a result")
                .text(),
            "echo"
        );
    });
}

/// The first of several servers of one URI answers for it.
#[test]
fn equal_uris() {
    run(async {
        let server = |text: &'static str| {
            Server::builder("s", "1").resource("note://1", "note", move |_| async move { Ok(text) })
        };
        let proxy = Proxy::builder()
            .entry(entry("a", &server("of a")))
            .entry(entry("b", &server("of b")))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let read = client
            .read_resource("note://1")
            .await
            .expect("the contents");
        assert_eq!(read.text().as_deref(), Some("of a"));
        assert_eq!(proxy.catalog().view().resources().collisions().len(), 1);
    });
}
