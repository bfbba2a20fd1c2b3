//! Results that are kept for as long as the server says.

use core::time::Duration;
use mcp_async::in_memory;

use mcp_async::client::{ClientBuilder, Update};
use mcp_async::model::{CacheScope, ElicitResult};
use mcp_async::server::Context;
use mcp_proto::{Revision, RevisionSet};

use crate::client_typed::support::{Demo, Seen, advance, each, join, only, run};
use crate::sim::{Sim, settle};

const TTL: Duration = Duration::from_secs(5);

/// CH-03, CH-04. CH-09.
#[test]
fn a_fresh_result_is_not_asked_for_again() {
    each(|mut demo, revision| async move {
        demo.server = demo.server.cache(TTL, CacheScope::Public);
        let client = join(&demo.server, revision).await;
        let reads = async || {
            client.read_resource("note://7").await.unwrap();
            client.read_resource("note://7").await.unwrap();
            demo.seen.take().len()
        };
        // Only a revision with hints says how long a result is fresh.
        let expected = |fresh| {
            if revision.requires_cache_hints() {
                fresh
            } else {
                2
            }
        };
        assert_eq!(reads().await, expected(1), "{revision}");
        assert_eq!(reads().await, expected(0), "{revision}");
        // CH-04: another resource is another result.
        client.read_resource("note://8").await.unwrap();
        assert_eq!(demo.seen.take(), ["read 8"]);
        advance(TTL);
        assert_eq!(reads().await, expected(1), "{revision}");
        client.forget_cached();
        assert_eq!(reads().await, expected(1), "{revision}");
        // A failure is not kept.
        client.read_resource("note://10").await.unwrap_err();
        client.read_resource("note://10").await.unwrap_err();
        assert_eq!(demo.seen.take().len(), 2);
    });
}

#[test]
fn a_client_says_if_reading_a_resource_sends_nothing() {
    each(|mut demo, revision| async move {
        demo.server = demo.server.cache(TTL, CacheScope::Public);
        let client = join(&demo.server, revision).await;
        let keeps = || client.has_cached_resource("note://7");
        assert!(!keeps(), "{revision}");
        client.read_resource("note://7").await.unwrap();
        assert_eq!(keeps(), revision.requires_cache_hints(), "{revision}");
        demo.seen.take();
        client.read_resource("note://7").refreshed().await.unwrap();
        assert_eq!(demo.seen.take(), ["read 7"], "{revision}");
        advance(TTL);
        assert!(!keeps(), "{revision}");
    });
}

#[test]
fn a_client_that_is_told_so_keeps_nothing() {
    each(|mut demo, revision| async move {
        demo.server = demo.server.cache(TTL, CacheScope::Public);
        let server = demo.server.build().unwrap();
        let client = only(revision)
            .cache(false)
            .connect(in_memory(Sim.into(), &server));
        let client = client.await.unwrap();
        client.read_resource("note://7").await.unwrap();
        client.read_resource("note://7").await.unwrap();
        assert_eq!(demo.seen.take(), ["read 7", "read 7"]);
    });
}

/// CH-07.
#[test]
fn a_change_makes_results_stale_at_once() {
    each(|mut demo, revision| async move {
        demo.server = demo.server.cache(TTL, CacheScope::Public);
        let server = demo.server.change_notifications().build().unwrap();
        let registry = server.registry();
        let client = join(&server, revision).await;
        let mut updates = client.changes().await.unwrap();
        let mut notes = client.subscribe("note://7").await.unwrap();
        settle();
        let count = async || client.tools().all().await.unwrap().len();
        assert_eq!(count().await, 6);
        registry.remove_tool("echo");
        settle();
        assert_eq!(updates.next().await, Some(Update::Tools), "{revision}");
        assert_eq!(count().await, 5, "{revision}");

        client.read_resource("note://7").await.unwrap();
        demo.seen.take();
        registry.resource_updated("note://7");
        let updated = Update::Resource("note://7".into());
        assert_eq!(notes.next().await, Some(updated), "{revision}");
        client.read_resource("note://7").await.unwrap();
        assert_eq!(demo.seen.take(), ["read 7"], "{revision}");
    });
}

/// CH-11: each page is an entry of its own.
#[test]
fn pages_are_kept_one_by_one() {
    each(|mut demo, revision| async move {
        if revision != Revision::V2026_07_28 {
            return;
        }
        demo.server = demo.server.cache(TTL, CacheScope::Private);
        let server = demo.server.build().unwrap();
        let client = join(&server, revision).await;
        let first = client.tools().page(None).await.unwrap();
        let cursor = first.next.clone();
        advance(TTL / 2);
        let second = client.tools().page(cursor.clone()).await.unwrap();
        advance(TTL / 2);
        // Behind the client's back the list changes, unheard: it told of no listener.
        let tool = mcp_async::server::Tool::new("aaa").handler(|(): (), _| async { Ok(()) });
        server.registry().add(tool).unwrap();
        assert_ne!(
            client.tools().page(None).await.unwrap(),
            first,
            "asked again"
        );
        assert_eq!(
            client.tools().page(cursor).await.unwrap(),
            second,
            "still fresh"
        );
    });
}

/// CH-06, MR-18: what followed from an answer of a person is asked for again.
#[test]
fn a_result_of_further_rounds_is_not_kept() {
    run(async {
        let seen = Seen::default();
        let reads = seen.clone();
        let server = mcp_async::Server::builder("demo", "1.0")
            .revisions(RevisionSet::modern())
            .cache(TTL, CacheScope::Private)
            .resource("x://", "x", move |cx: Context| {
                let reads = reads.clone();
                async move {
                    let form = r#"{"type":"object","properties":{}}"#;
                    cx.elicit_form("key", "Go?", form.parse()?).await?;
                    reads.note("read");
                    Ok("x")
                }
            })
            .build()
            .unwrap();
        let client = only(Revision::V2026_07_28)
            .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
            .connect(in_memory(Sim.into(), &server))
            .await
            .unwrap();
        for _ in 0..2 {
            client.read_resource("x://").await.unwrap();
            assert_eq!(seen.take(), ["read"]);
        }
    });
}

#[test]
fn the_bounds_of_the_cache_are_settings() {
    type Setting = fn(ClientBuilder) -> ClientBuilder;
    let settings: [(Setting, usize); 4] = [
        (|builder| builder, 0),
        (|builder| builder.max_cached_results(0), 1),
        (|builder| builder.max_cached_bytes(100), 1),
        (|builder| builder.max_cache_time(TTL / 2), 1),
    ];
    for (setting, requests) in settings {
        let mut demo = Demo::new();
        demo.server = demo.server.cache(TTL, CacheScope::Public);
        run(async {
            let builder = setting(only(Revision::V2026_07_28));
            let server = demo.server.build().unwrap();
            let client = builder.connect(in_memory(Sim.into(), &server)).await;
            let client = client.unwrap();
            client.read_resource("note://7").await.unwrap();
            advance(TTL / 2);
            demo.seen.take();
            client.read_resource("note://7").await.unwrap();
            assert_eq!(demo.seen.take().len(), requests);
        });
    }
}
