//! Resources that callers watch.

use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use mcp_async::client::{Subscription, Update};
use mcp_async::model::ElicitResult;
use mcp_async::runtime::within;
use mcp_async::server::{Context, Registry};
use mcp_async::{Revision, RevisionSet, Server, in_memory};
use mcp_compose::{Proxy, ServerEntry};

use super::{caller, front, in_each_pair, joined};
use crate::support::{legacy_lines, only, pause, run, runtime, serving};

async fn updated(changes: &mut Subscription) -> Option<String> {
    let next = within(&runtime(), Duration::from_secs(5), changes.next()).await;
    match next.flatten() {
        Some(Update::Resource(uri)) => Some(uri),
        _ => None,
    }
}

#[test]
fn changes_of_a_resource_reach_those_who_watch_it() {
    in_each_pair(|upstream, revision| async move {
        let revisions = mcp_async::RevisionSet::of(&[upstream]);
        let back = Server::builder("back", "1.0")
            .revisions(revisions)
            .change_notifications()
            .resource("note://1", "one", |_| async { Ok("one") })
            .resource("note://2", "two", |_| async { Ok("two") })
            .build()
            .expect("it is well formed");
        let registry = back.registry();
        let proxy = Proxy::builder()
            .entry(serving("back", back))
            .start(runtime())
            .await;
        let front = front(&proxy);
        let (ada, bob) = (
            caller(&front, only(revision)).await,
            caller(&front, only(revision)).await,
        );
        let mut of_ada = ada.subscribe("note://1").await.expect("a subscription");
        let mut of_bob = bob.subscribe("note://2").await.expect("a subscription");
        // The proxy subscribes by itself.
        pause(1).await;
        registry.resource_updated("note://1");
        assert_eq!(
            updated(&mut of_ada).await.as_deref(),
            Some("note://1"),
            "{upstream} {revision}"
        );
        assert_eq!(updated(&mut of_bob).await, None, "{upstream} {revision}");
        registry.resource_updated("note://2");
        assert_eq!(
            updated(&mut of_bob).await.as_deref(),
            Some("note://2"),
            "{upstream} {revision}"
        );
        // Who comes later shares the subscription.
        let mut late = bob.subscribe("note://1").await.expect("a subscription");
        registry.resource_updated("note://1");
        assert_eq!(
            updated(&mut late).await.as_deref(),
            Some("note://1"),
            "{upstream} {revision}"
        );
        drop((of_ada, of_bob, late));
    });
}

/// A server that is started for each session, as a program is; its tool changes a resource of its own. The registries of those that
/// were started, in their order.
fn program(revision: Revision) -> (ServerEntry, Arc<Mutex<Vec<Registry>>>) {
    let started: Arc<Mutex<Vec<Registry>>> = Arc::default();
    let all = Arc::clone(&started);
    let entry = ServerEntry::connector("back", move || {
        let server = Server::builder("back", "1.0")
            .revisions(RevisionSet::of(&[revision]))
            .change_notifications()
            .resource("note://1", "one", |_| async { Ok("one") })
            .tool("write", "Writes", |(): (), cx: Context| async move {
                cx.peer().resource_updated("note://1");
                Ok("written")
            })
            .build()
            .expect("it is well formed");
        all.lock()
            .expect("no test panics with it")
            .push(server.registry());
        in_memory(runtime(), &server)
    });
    (entry, started)
}

#[test]
fn changes_that_a_call_makes_in_its_own_session_reach_its_caller() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let (entry, _) = program(upstream);
            let proxy = Proxy::builder().entry(entry).start(runtime()).await;
            let asked = only(Revision::V2025_11_25)
                .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
            let client = caller(&front(&proxy), asked).await;
            let mut changes = client.subscribe("note://1").await.expect("a subscription");
            client
                .call_tool("back__write", &())
                .await
                .expect("it writes");
            let told = updated(&mut changes).await;
            assert_eq!(told.as_deref(), Some("note://1"), "{upstream}");
            // The session ends with its caller, subscription and all.
            assert_eq!(proxy.in_use().0, 2);
            drop(changes);
            client.close().await.expect("it closes");
            pause(1).await;
            let shared = usize::from(upstream.is_modern());
            assert_eq!(proxy.in_use().0, 1 + shared, "{upstream}");
        });
    }
}

#[test]
fn a_caller_that_leaves_without_a_word_is_watched_for_no_more() {
    run(async {
        let (entry, started) = program(Revision::V2025_11_25);
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let asked = only(Revision::V2025_11_25)
            .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
        let client = caller(&front(&proxy), asked).await;
        let changes = client.subscribe("note://1").await.expect("a subscription");
        let own = started.lock().expect("no test panics with it")[1].clone();
        assert_eq!(own.peers().len(), 1);
        // It does not unsubscribe.
        client.close().await.expect("it closes");
        pause(1).await;
        assert_eq!(proxy.in_use().0, 1);
        assert_eq!(own.peers().len(), 0);
        drop(changes);
    });
}

#[test]
fn a_server_that_comes_back_is_watched_again() {
    in_each_pair(|upstream, revision| async move {
        let (entry, started) = program(upstream);
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(revision)).await;
        let mut changes = client.subscribe("note://1").await.expect("a subscription");
        pause(1).await;
        let first = started.lock().expect("no test panics with it")[0].clone();
        first
            .peers()
            .iter()
            .for_each(mcp_async::server::Peer::shutdown);
        // Changes may have been missed meanwhile.
        let told = updated(&mut changes).await;
        assert_eq!(told.as_deref(), Some("note://1"), "{upstream} {revision}");
        pause(5).await;
        let second = started
            .lock()
            .expect("no test panics with it")
            .last()
            .cloned();
        second
            .expect("it was started again")
            .resource_updated("note://1");
        let told = updated(&mut changes).await;
        assert_eq!(told.as_deref(), Some("note://1"), "{upstream} {revision}");
    });
}

/// RS-10
#[test]
fn changes_of_parts_end_no_subscription() {
    run(async {
        let entry = legacy_lines("back", |method, _| {
            match method {
            "initialize" => {
                let features = r#"{"tools":{},"resources":{"subscribe":true}}"#;
                let name = r#"{"name":"lines","version":"1"}"#;
                let hello = format!(
                    r#"{{"protocolVersion":"2025-11-25","capabilities":{features},"serverInfo":{name}}}"#
                );
                vec![hello.into()]
            }
            "resources/list" => {
                vec![r#"{"resources":[{"uri":"note://1","name":"one"}]}"#.into()]
            }
            "resources/subscribe" => vec!["{}".into()],
            "tools/call" => vec![
                r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://1/part"}}"#.into(),
                r#"{"content":[]}"#.into(),
            ],
            _ => Vec::new(),
        }
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let mut changes = client.subscribe("note://1").await.expect("a subscription");
        pause(1).await;
        for _ in 0..2 {
            client.call_tool("back__x", &()).await.expect("a result");
            assert!(updated(&mut changes).await.is_some());
        }
    });
}

/// A client has 512 subscriptions of 2026-07-28 at a time. All callers share them.
#[test]
fn no_caller_takes_all_subscriptions_of_a_server() {
    run(async {
        let back = Server::builder("back", "1.0")
            .change_notifications()
            .template(
                "note://{name}",
                "notes",
                |_: HashMap<String, String>, _: Context| async { Ok("a note") },
            );
        let back = back.revisions(RevisionSet::of(&[Revision::V2026_07_28]));
        let back = back.build().expect("it is well formed");
        let registry = back.registry();
        let entry = serving("back", back);
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let front = front(&proxy);
        let ada = caller(&front, only(Revision::V2025_11_25)).await;
        let mut of_ada = VecDeque::new();
        for number in 0..520 {
            let changes = ada.subscribe(&format!("note://{number}")).await;
            of_ada.push_back(changes.expect("a subscription"));
        }
        let bob = caller(&front, only(Revision::V2025_11_25)).await;
        let mut of_bob = bob.subscribe("note://bob").await.expect("a subscription");
        pause(1).await;
        registry.resource_updated("note://bob");
        let told = updated(&mut of_bob).await;
        assert_eq!(told.as_deref(), Some("note://bob"));
        // What is beyond a share waits until there is room.
        let mut last = of_ada.pop_back().expect("a subscription");
        registry.resource_updated("note://519");
        assert_eq!(updated(&mut last).await, None);
        drop(of_ada);
        pause(150).await;
        // Changes may have been missed meanwhile.
        let told = updated(&mut last).await;
        assert_eq!(told.as_deref(), Some("note://519"));
        registry.resource_updated("note://519");
        let told = updated(&mut last).await;
        assert_eq!(told.as_deref(), Some("note://519"));
    });
}

/// The most bytes that are allocated at once while a caller watches so many resources, one after the other.
fn most_allocated(count: usize, revisions: (Revision, Revision)) -> u64 {
    let script = async {
        let back = Server::builder("back", "1.0")
            .change_notifications()
            .template(
                "note://{name}",
                "notes",
                |_: HashMap<String, String>, _: Context| async { Ok("a note") },
            );
        let (_proxy, client) = joined(&back, revisions.0, revisions.1).await;
        for number in 0..count {
            let uri = format!("note://{number}");
            let changes = client.subscribe(&uri).await.expect("a subscription");
            pause(1).await;
            drop(changes);
            pause(1).await;
        }
    };
    allocation_counter::measure(|| run(script)).bytes_max
}

#[test]
fn what_is_watched_no_more_is_forgotten() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let [few, many] = [200, 600].map(|count| most_allocated(count, (upstream, revision)));
            assert!(many < few * 3 / 2, "{upstream} {revision}: {few} {many}");
        }
    }
}
