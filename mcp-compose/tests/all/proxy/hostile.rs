//! Hostile servers, and callers that meet them.

use core::future::pending;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::client::{CallError, ClientBuilder};
use mcp_async::model::{ElicitParams, ElicitResult, LoggingLevel};
use mcp_async::runtime::{duplex, within};
use mcp_async::{Revision, RevisionSet, Streams, in_memory};
use mcp_compose::{Naming, Proxy, ServerEntry, UpstreamState};

use super::{caller, front};
use crate::support::{
    legacy_lines, modern_lines, only, pause, read, run, runtime, serving, sleep, tools, write,
};

/// A proxy for one server, whose items have the names that they have there.
async fn before(entry: ServerEntry) -> Proxy {
    let proxy = Proxy::builder().entry(entry).naming(Naming::bare());
    proxy.start(runtime()).await
}

fn question(id: u8, message: &str) -> Arc<str> {
    let form = r#"{"type":"object","properties":{}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"message":"{message}","requestedSchema":{form}}}}}"#
    )
    .into()
}

fn log(data: &str) -> Arc<str> {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"error","data":"{data}"}}}}"#
    )
    .into()
}

/// What a caller was asked, and read in logs.
type Heard = Arc<Mutex<Vec<String>>>;

/// A caller of 2026-07-28 that notes what it hears, and answers questions if it is not silent.
fn listener(heard: &Heard, is_silent: bool) -> ClientBuilder {
    let (asked, logged) = (Arc::clone(heard), Arc::clone(heard));
    only(Revision::V2026_07_28)
        .on_elicitation(move |question: ElicitParams, _| {
            let message = question.message().unwrap_or_default().to_owned();
            asked.lock().expect("no panic").push(message);
            async move {
                if is_silent {
                    pending::<()>().await;
                }
                Ok(ElicitResult::decline())
            }
        })
        .on_log(move |message| {
            let data = message.data.as_raw().as_str().to_owned();
            logged.lock().expect("no panic").push(data);
        })
}

/// Callers without a principal use one session after the other.
#[test]
fn what_a_server_says_late_is_not_for_the_next_caller() {
    run(async {
        let entry = legacy_lines("back", |method, line| match method {
            "tools/call" if line.contains("ask") => {
                vec![question(7, "first"), question(8, "second"), log("late")]
            }
            _ => Vec::new(),
        });
        let proxy = before(entry).await;
        let front = front(&proxy);
        let (of_ada, of_bob) = (Heard::default(), Heard::default());
        let ada = caller(&front, listener(&of_ada, true)).await;
        let bob = caller(&front, listener(&of_bob, false)).await;
        let call = |client: &mcp_async::Client, word: &'static str| {
            let (client, arguments) = (
                client.clone(),
                std::collections::HashMap::from([("say", word)]),
            );
            async move {
                let call = client.call_tool("x", &arguments);
                let call = call.with_logs(LoggingLevel::Debug);
                within(&runtime(), Duration::from_secs(2), call)
                    .await
                    .is_some()
            }
        };
        assert!(!call(&ada, "ask").await);
        // The call is held until it is given up.
        pause(301).await;
        assert!(call(&bob, "nothing").await);
        assert_eq!(*of_ada.lock().expect("no panic"), ["first"]);
        assert!(of_bob.lock().expect("no panic").is_empty(), "{of_bob:?}");
    });
}

/// The most bytes that are allocated at once for a legacy caller that reads nothing after its call, while the server writes this
/// much to its log. Output that waits to be read has up to 32 MiB, in storage that doubles as it grows.
fn most_allocated_with_logs(count: usize) -> u64 {
    let script = async move {
        let entry = legacy_lines("back", move |method, _| match method {
            "tools/call" => vec![log(&"x".repeat(1_000)); count],
            _ => Vec::new(),
        });
        let front = front(&before(entry).await);
        let (mut stream, theirs) = duplex(64 << 10);
        let transport = Streams::new(runtime(), theirs.split());
        runtime().spawn(Box::pin(async move {
            let _ = front.serve(transport).await;
        }));
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":{}}}"#,
        ] {
            assert!(write(&mut stream, format!("{line}\n").as_bytes()).await);
        }
        let hello = read(&mut stream).await.expect("an answer");
        assert!(hello.contains("2025-11-25"), "{hello}");
        pause(5).await;
        drop(stream);
    };
    allocation_counter::measure(|| run(script)).bytes_max
}

#[test]
fn log_messages_wait_in_bounded_memory() {
    let most = most_allocated_with_logs(50_000);
    assert!(most < 100 << 20, "{} KiB", most >> 10);
}

/// The most bytes that are allocated at once for a caller of 2026-07-28 that does not answer, after the server has sent so much of this.
fn most_allocated_with_a_question(then: Arc<str>, count: usize) -> u64 {
    let script = async move {
        let entry = legacy_lines("back", move |method, _| match method {
            "tools/call" => {
                let mut lines = vec![question(7, "first")];
                lines.resize(count, Arc::clone(&then));
                lines
            }
            _ => Vec::new(),
        });
        let front = front(&before(entry).await);
        let client = caller(&front, listener(&Heard::default(), true)).await;
        let call = client.call_tool("x", &()).with_logs(LoggingLevel::Debug);
        let ended = within(&runtime(), Duration::from_secs(2), call).await;
        assert!(ended.is_none(), "the question waits");
    };
    allocation_counter::measure(|| run(script)).bytes_max
}

#[test]
fn events_of_a_held_call_wait_in_bounded_memory() {
    let long = "x".repeat(1 << 20);
    let named = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"error","logger":"{long}","data":1}}}}"#
    );
    for line in [named.into(), question(8, &long)] {
        let most = most_allocated_with_a_question(line, 200);
        assert!(most < 100 << 20, "{} KiB", most >> 10);
    }
}

#[test]
fn a_server_that_changes_its_lists_all_the_time_is_read_now_and_then() {
    run(async {
        let read = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&read);
        let entry = legacy_lines("back", move |method, _| match method {
            "tools/list" => {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                assert!(number < 10_000, "it is read for ever");
                let schema = r#"{"type":"object"}"#;
                let list =
                    format!(r#"{{"tools":[{{"name":"x{number}","inputSchema":{schema}}}]}}"#);
                let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
                [&*list, changed, changed, changed].map(Arc::from).to_vec()
            }
            _ => Vec::new(),
        });
        let proxy = before(entry).await;
        let client = caller(&front(&proxy), only(Revision::V2025_11_25)).await;
        pause(10).await;
        let read = read.load(Ordering::SeqCst);
        assert!((50..150).contains(&read), "{read}");
        assert_eq!(client.tools().all().await.expect("the tools").len(), 1);
    });
}

/// Returns what a caller that declares nothing receives for this answer of a legacy server to its call.
async fn received(answer: &'static str, revision: Revision) -> Result<String, CallError> {
    let entry = legacy_lines("back", move |method, _| match method {
        "tools/call" => vec![answer.into()],
        _ => Vec::new(),
    });
    let proxy = before(entry).await;
    let client = caller(&front(&proxy), only(revision)).await;
    let call = client.call_tool("x", &());
    let result = call.raw().await?;
    client.ping().await.expect("it is alive");
    Ok(result.as_raw().as_str().to_owned())
}

/// MR-05: members of 2026-07-28 mean nothing in a result of an older revision.
#[test]
fn a_legacy_server_neither_asks_in_a_result_nor_makes_tasks_by_one() {
    for revision in RevisionSet::all().iter() {
        for answer in [
            r#"{"content":[],"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"roots/list"}}}"#,
            r#"{"content":[],"resultType":"task","taskId":"t","status":"working","ttlMs":1}"#,
            r#"{"content":[],"resultType":"strange"}"#,
        ] {
            run(async {
                let result = received(answer, revision).await.expect("a result");
                assert!(!result.contains("input_required"), "{revision} {result}");
                assert!(!result.contains(r#""task""#), "{revision} {result}");
            });
        }
        run(async {
            let answer = r#"{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"a":1}}"#;
            let result = received(answer, revision).await.expect("a result");
            assert!(
                !result.contains("related-task") && result.contains(r#""a":1"#),
                "{result}"
            );
        });
    }
}

#[test]
fn errors_about_the_requests_of_the_proxy_are_not_the_callers() {
    for revision in RevisionSet::all().iter() {
        for (answer, is_made_anew) in [
            (r#"{"code":-32601,"message":"m"}"#, true),
            (r#"{"code":-32600,"message":"m"}"#, true),
            (r#"{"code":-32020,"message":"m"}"#, true),
            (
                r#"{"code":-32022,"message":"m","data":{"supported":["2024-11-05"],"requested":"2026-07-28"}}"#,
                true,
            ),
            (r#"{"code":-32602,"message":"m"}"#, false),
            (r#"{"code":-7,"message":"m"}"#, false),
        ] {
            run(async {
                let error = received(answer, revision).await.expect_err("an error");
                let CallError::Server(error) = error else {
                    panic!("{error}")
                };
                assert_eq!(error.code == -32603, is_made_anew, "{revision} {error:?}");
                assert!(error.data.is_none(), "{revision} {error:?}");
            });
        }
    }
}

#[test]
fn a_server_that_ends_again_and_again_is_started_at_longer_pauses() {
    run(async {
        let starts = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&starts);
        let entry = ServerEntry::connector("back", move || {
            counted.fetch_add(1, Ordering::SeqCst);
            let server = tools(&["x"]).build().expect("it is well formed");
            let connector = in_memory(runtime(), &server);
            runtime().spawn(Box::pin(async move {
                // It is connected by then.
                sleep(Duration::from_millis(500)).await;
                server.registry().shutdown();
            }));
            connector
        });
        let _proxy = before(entry).await;
        pause(600).await;
        let starts = starts.load(Ordering::SeqCst);
        assert!((5..25).contains(&starts), "{starts}");
    });
}

#[test]
fn a_server_that_acknowledges_no_subscription_holds_nothing_up() {
    run(async {
        let entry = modern_lines("back", |method, _| match method {
            "server/discover" => {
                let features = r#"{"tools":{"listChanged":true}}"#;
                let discovered = format!(
                    r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{features},"ttlMs":0,"cacheScope":"private"}}"#
                );
                vec![discovered.into()]
            }
            // No answer.
            "subscriptions/listen" => {
                vec![r#"{"jsonrpc":"2.0","method":"notifications/none"}"#.into()]
            }
            _ => Vec::new(),
        });
        let started = within(&runtime(), Duration::from_secs(20), before(entry)).await;
        let proxy = started.expect("it starts in time");
        assert_eq!(proxy.states()[0].1, UpstreamState::Ready);
    });
}

/// The most bytes that are allocated at once while this many servers are built one after the other, each dropped before the next.
fn most_allocated_with_servers(count: usize) -> u64 {
    let script = async move {
        let builder = (0..200).fold(tools(&[]), |builder, number| {
            let handler = |(): (), _| async { Ok("done") };
            builder.tool(format!("tool-{number}"), "One of many", handler)
        });
        let server = builder.build().expect("it is well formed");
        let entry = serving("back", server);
        let proxy = before(entry).await;
        for _ in 0..count {
            drop(front(&proxy));
            pause(120).await;
        }
    };
    allocation_counter::measure(|| run(script)).bytes_max
}

#[test]
fn nothing_is_left_of_a_server_that_was_dropped() {
    // What is allocated once in a process is left out.
    most_allocated_with_servers(1);
    let (few, many) = (
        most_allocated_with_servers(2),
        most_allocated_with_servers(200),
    );
    assert!(many < 2 * few, "{many} {few}");
}
