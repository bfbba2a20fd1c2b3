//! Calls that pass a proxy, and their results.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::client::CallError;
use mcp_async::json::RawBuf;
use mcp_async::model::{CacheScope, CallToolResult, Completion, Content, Meta, Reference};
use mcp_async::server::{CompletionRequest, Context, HandlerError, Prompt, ServerBuilder};
use mcp_async::{ErrorReply, Revision, RevisionSet, Server};
use mcp_compose::{Proxy, ProxyLimits};

use super::{before, caller, entry, front, in_each_pair, joined};
use crate::support::{only, pause, run, runtime, said, serving, tools};

/// A number that no float holds, and members in no order.
const EXACT: &str = r#"{"zebra":9007199254740993,"ant":1.10}"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trip {
    city: String,
}

fn desk() -> ServerBuilder {
    Server::builder("back", "1.0")
        .tool("exact", "Returns numbers", |(): (), _| async {
            let content = Some(RawBuf::parse(EXACT)?);
            Ok(CallToolResult {
                structured_content: content,
                ..CallToolResult::default()
            })
        })
        .tool("fail", "Fails", |(): (), _| async {
            Err::<(), _>(HandlerError::visible("no milk"))
        })
        .tool("refuse", "Refuses", |(): (), _| async {
            Err::<(), _>(HandlerError::reply(ErrorReply::new(-7, "not on a Sunday")))
        })
        .tool("count", "Counts", |(): (), cx: Context| async move {
            for step in 1..=3 {
                cx.progress(f64::from(step))
                    .total(3.0)
                    .message("counting")
                    .await;
            }
            Ok("three")
        })
        .resource("desk://milk", "milk", |_| async { Ok("a litre") })
        .template(
            "desk://{drawer}/pens",
            "pens",
            |drawer: Drawer, _: Context| async move { Ok(drawer.drawer) },
        )
        .with(
            Prompt::new("trip")
                .complete("city", |typed: CompletionRequest, _: Context| async move {
                    Ok(["Kyoto", "Kiev", "Oslo"]
                        .into_iter()
                        .filter(|city| city.starts_with(&typed.value))
                        .collect::<Vec<_>>())
                })
                .handler(|trip: Trip, _: Context| async move { Ok(format!("to {}", trip.city)) }),
        )
}

#[derive(serde::Deserialize)]
struct Drawer {
    drawer: String,
}

#[test]
fn everything_passes_in_all_pairs_of_revisions() {
    in_each_pair(|upstream, revision| async move {
        let pair = format!("{upstream} {revision}");
        let (_proxy, client) = joined(&desk(), upstream, revision).await;
        assert_eq!(
            client.info().implementation().expect("a name").name,
            "front",
            "{pair}"
        );

        let exact = client
            .call_tool("exact", &())
            .raw()
            .await
            .expect("a result");
        let is_exact = exact.as_raw().as_str().contains(EXACT);
        let old = [Revision::V2024_11_05, Revision::V2025_03_26];
        assert_eq!(
            is_exact,
            !old.contains(&upstream) && !old.contains(&revision),
            "{pair}"
        );

        let failed = client.call_tool("fail", &()).await.expect("a result");
        assert!(failed.is_error && failed.text() == "no milk", "{pair}");
        let refused = client.call_tool("refuse", &()).await;
        assert!(
            matches!(&refused, Err(CallError::Server(error)) if error.code == -7 && error.message == "not on a Sunday"),
            "{pair} {refused:?}"
        );

        let mut steps = Vec::new();
        let counted = client
            .call_tool("count", &())
            .on_progress(|step| steps.push((step.progress, step.total)))
            .await;
        assert_eq!(counted.expect("a result").text(), "three", "{pair}");
        assert_eq!(
            steps,
            [(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))],
            "{pair}"
        );

        let milk = client
            .read_resource("desk://milk")
            .await
            .expect("the contents");
        assert_eq!(milk.text().as_deref(), Some("a litre"), "{pair}");
        let pens = client
            .read_resource("desk://top/pens")
            .await
            .expect("the contents");
        assert_eq!(pens.text().as_deref(), Some("top"), "{pair}");
        let none = client
            .read_resource("desk://none")
            .await
            .expect_err("there is none");
        assert!(none.is_resource_not_found(), "{pair} {none}");

        let trip = client
            .get_prompt("trip", &serde_json::json!({"city": "Oslo"}))
            .await
            .expect("the messages");
        assert_eq!(
            trip.messages[0].content.as_text(),
            Some("to Oslo"),
            "{pair}"
        );
        let cities: Completion = client
            .complete(&Reference::prompt("trip"), "city", "K")
            .await
            .expect(&pair);
        assert_eq!(cities.values, ["Kyoto", "Kiev"], "{pair}");
    });
}

/// CH-10: the server in front does not say how long the contents of another stay fresh.
#[test]
fn what_may_be_cached_is_for_the_server_to_say() {
    let hour = Duration::from_secs(3_600);
    for upstream in RevisionSet::all().iter() {
        for is_restricted in [false, true] {
            run(async {
                let back = desk().cache(hour, CacheScope::Public);
                let mut proxy = before(&back, upstream);
                if is_restricted {
                    proxy = proxy.visible_to(|_, _, _| true);
                }
                let proxy = proxy.start(runtime()).await;
                let server = Server::builder("front", "1.0").cache(2 * hour, CacheScope::Public);
                let server = proxy.server(server).expect("it is well formed");
                let client = caller(&server, only(Revision::V2026_07_28)).await;
                let read = client.read_resource("desk://milk").await.expect("a text");
                let (ttl, scope) = match (upstream.is_modern(), is_restricted) {
                    (true, false) => (3_600_000, CacheScope::Public),
                    (true, true) => (3_600_000, CacheScope::Private),
                    (false, _) => (0, CacheScope::Private),
                };
                assert_eq!(read.ttl_ms, Some(ttl), "{upstream} {is_restricted}");
                assert_eq!(read.cache_scope, Some(scope), "{upstream} {is_restricted}");
            });
        }
    }
}

#[test]
fn what_an_older_caller_does_not_know_is_left_out() {
    let server = Server::builder("back", "1.0").tool("both", "Both", |(): (), _| async {
        Ok(vec![
            Content::text("seen"),
            Content::audio(b"beep", "audio/wav"),
        ])
    });
    run(async {
        let (_proxy, client) = joined(&server, Revision::V2026_07_28, Revision::V2024_11_05).await;
        let both = client.call_tool("both", &()).raw().await.expect("a result");
        assert!(
            !both.as_raw().as_str().contains("audio/wav"),
            "{}",
            both.as_raw().as_str()
        );
    });
}

#[test]
fn members_of_meta_pass_and_those_of_the_protocol_are_made_anew() {
    let server =
        Server::builder("back", "1.0").tool("meta", "Shows", |(): (), cx: Context| async move {
            let name = cx.client_info().map(|info| info.name).unwrap_or_default();
            let seen = cx
                .meta()
                .map(|meta| meta.as_raw().as_str().to_owned())
                .unwrap_or_default();
            Ok(format!("{name} {seen}"))
        });
    in_each_pair(|upstream, revision| {
        let server = server.clone();
        async move {
            let (_proxy, client) = joined(&server, upstream, revision).await;
            let mut meta = Meta::new();
            meta.insert("example.com/color", "green")
                .expect("it is JSON");
            let seen = client
                .call_tool("meta", &())
                .meta(meta)
                .await
                .expect("a result")
                .text();
            assert!(seen.starts_with("mcp-compose "), "{seen}");
            assert!(seen.contains(r#""example.com/color":"green""#), "{seen}");
        }
    });
}

#[test]
fn a_caller_that_gives_up_cancels_the_call_of_the_server() {
    in_each_pair(|upstream, revision| async move {
        let cancelled = Arc::new(AtomicUsize::new(0));
        let noted = Arc::clone(&cancelled);
        let server =
            Server::builder("back", "1.0").tool("wait", "Waits", move |(): (), _: Context| {
                let guard = Guard(Arc::clone(&noted));
                async move {
                    core::future::pending::<()>().await;
                    drop(guard);
                    Ok(())
                }
            });
        let (_proxy, client) = joined(&server, upstream, revision).await;
        let late = client
            .call_tool("wait", &())
            .timeout(Duration::from_secs(1))
            .await;
        assert!(matches!(late, Err(CallError::Timeout)), "{late:?}");
        // What was sent last arrives.
        client.ping().await.expect("it is alive");
        pause(1).await;
        assert_eq!(cancelled.load(Ordering::SeqCst), 1, "{upstream} {revision}");
    });
}

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let server = Server::builder("back", "1.0").tool("wait", "Waits", |(): (), _: Context| {
        core::future::pending::<Result<(), HandlerError>>()
    });
    run(async {
        let mut limits = ProxyLimits::default();
        limits.call_time = Duration::from_secs(2);
        let proxy = before(&server, Revision::V2025_11_25)
            .limits(limits)
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let late = client
            .call_tool("wait", &())
            .timeout(Duration::from_secs(60))
            .await;
        let error = late.expect_err("it takes too long").to_string();
        assert!(
            error.contains("the server `back` did not answer in time; the request may have run"),
            "{error}"
        );
    });
}

#[test]
fn proxies_in_a_circle_have_no_items_of_their_own() {
    run(async {
        let first = before(&tools(&["echo"]), Revision::V2025_11_25)
            .start(runtime())
            .await;
        let one = front(&first);
        let second = Proxy::builder()
            .entry(serving("one", one.clone()))
            .naming(mcp_compose::Naming::bare())
            .start(runtime())
            .await;
        let two = front(&second);
        // The first server is replaced by the second proxy, which has its items from the first.
        first.add(serving("two", two)).await;
        first.remove("back");
        let client = caller(&one, only(Revision::V2026_07_28)).await;
        let error = client
            .call_tool("echo", &())
            .await
            .expect_err("it would go in a circle")
            .to_string();
        assert!(error.contains("Unknown tool: echo"), "{error}");
    });
}

#[test]
fn one_server_that_cannot_be_reached_does_not_hold_up_the_others() {
    run(async {
        let gone = mcp_compose::ServerEntry::program(
            "gone",
            mcp_async::process::Command::new("/no/such/program"),
        );
        let proxy = Proxy::builder()
            .entry(gone)
            .entry(entry("back", &tools(&["echo"])))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(said(&client, "back__echo").await, "echo");
        let states = format!("{:?}", proxy.states());
        assert!(states.contains("/no/such/program"), "{states}");
    });
}
