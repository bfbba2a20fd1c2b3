//! Calls of 2026-07-28.

use core::time::Duration;

use mcp_async::client::{CallError, Extension, Update};
use mcp_proto::Revision;
use mcp_proto::client::Failure;
use mcp_proto::json::RawBuf;

use crate::scripted::http_server::{Asked, HttpServer, Wire, check, check_in};
use crate::scripted::{acknowledged, tools_changed};
use crate::sim::sleep;

const MODERN: &[Revision] = &[Revision::V2026_07_28];

#[test]
fn tokens_and_headers_go_with_every_request() {
    check(
        |site| async move {
            let builder = site.client(MODERN).bearer("old").bearer("t-1");
            let client = site.join(builder.header("X-Key", "k")).await.unwrap();
            client.tools().page(None).await.unwrap();
        },
        |site| async move {
            let asked = site.next().await;
            assert_eq!(asked.field("authorization"), "Bearer t-1");
            assert_eq!(asked.field("x-key"), "k");
            asked.discovered();
            let asked = site.expect("tools/list").await;
            assert_eq!(asked.field("authorization"), "Bearer t-1");
            asked
                .result(r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#);
        },
    );
}

/// CH-05: what one token was shown is not shown to another.
#[test]
fn another_token_finds_no_cached_results() {
    check(
        |site| async move {
            let client = site.join(site.client(MODERN).bearer("t-1")).await.unwrap();
            for token in ["t-1", "t-2"] {
                client.set_bearer(token).unwrap();
                for _ in 0..2 {
                    let read = client.read_resource("x://").await.unwrap();
                    assert_eq!(read.text().as_deref(), Some(token));
                }
            }
        },
        |site| async move {
            let asked = site.expect("server/discover").await;
            asked.result(r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},"ttlMs":0,"cacheScope":"private"}"#);
            for token in ["t-1", "t-2"] {
                let asked = site.expect("resources/read").await;
                assert_eq!(asked.field("authorization"), format!("Bearer {token}"));
                asked.result(&format!(
                    r#"{{"resultType":"complete","contents":[{{"uri":"x://","text":"{token}"}}],"ttlMs":60000,"cacheScope":"private"}}"#
                ));
            }
            site.quiet();
        },
    );
}

/// EX-15.
#[test]
fn a_header_repeats_what_a_method_of_an_extension_is_about() {
    check(
        |site| async move {
            let notes = Extension::new("com.example/notes").method_about("notes/get", "noteId");
            let builder = site.client(MODERN).extension(notes);
            let client = site.join(builder).await.unwrap();
            for method in ["notes/get", "notes/list"] {
                let params = RawBuf::parse(r#"{"noteId":"a"}"#).unwrap();
                client.request::<RawBuf>(method, &params).await.unwrap();
            }
        },
        |site| async move {
            site.next().await.discovered();
            for (method, subject) in [("notes/get", "a"), ("notes/list", "")] {
                let asked = site.expect(method).await;
                assert_eq!(asked.field("mcp-name"), subject);
                asked.result(r#"{"resultType":"complete"}"#);
            }
        },
    );
}

/// SC-20, SH-19
#[test]
fn a_dropped_call_closes_its_exchange() {
    check_in(
        MODERN[0],
        |client| async move {
            let error = client
                .call_tool("a", &())
                .timeout(Duration::from_secs(2))
                .await
                .unwrap_err();
            assert!(matches!(error, CallError::Timeout));
            let error = client
                .call_tool("b", &())
                .timeout(Duration::from_secs(2))
                .await
                .unwrap_err();
            assert!(matches!(error, CallError::Timeout));
        },
        |site| async move {
            let asked = site.expect("tools/call").await;
            sleep(Duration::from_secs(3)).await;
            assert!(asked.is_dropped());
            let stream = site.expect("tools/call").await.stream();
            sleep(Duration::from_secs(3)).await;
            assert!(stream.is_dropped());
            site.quiet();
        },
    );
}

/// SC-21
/// SC-32, XH-26.
#[test]
fn a_broken_stream_is_a_lost_call() {
    check_in(
        MODERN[0],
        |client| async move {
            for _ in 0..2 {
                let error = client.call_tool("a", &()).await.unwrap_err();
                assert!(matches!(error, CallError::Failed(Failure::Broken)));
            }
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Status(431))));
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::NoAnswer)));
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Server(error) if error.code == -32601));
        },
        |site| async move {
            let stream = site.expect("tools/call").await.stream();
            stream.send("id: 1\ndata:\n\n");
            stream.end();
            let stream = site.expect("tools/call").await.stream();
            stream.send("id: 1\ndata:\n\n");
            stream.cut();
            site.expect("tools/call").await.refuse(431, "");
            site.expect("tools/call").await.refuse(200, "");
            let asked = site.expect("tools/call").await;
            asked.json(
                404,
                "",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m"}}"#,
            );
            site.quiet();
        },
    );
}

/// A request that nests deeper than any text that is read has its headers, and its refusal ends the call.
#[test]
fn a_request_that_is_too_deep_is_refused_at_once() {
    const DEPTHS: [usize; 3] = [126, 127, 128];
    check_in(
        MODERN[0],
        |client| async move {
            for depth in DEPTHS {
                let text = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
                let arguments: RawBuf = text.parse().unwrap();
                let call = client.call_tool("deep", &arguments);
                let error = call.timeout(Duration::from_secs(2)).await.unwrap_err();
                let is_refusal = matches!(&error, CallError::Server(error) if error.code == -32700);
                assert!(is_refusal, "{depth}: {error:?}");
            }
        },
        |site| async move {
            for depth in DEPTHS {
                let asked = site.expect("tools/call").await;
                assert_eq!(asked.field("mcp-name"), "deep", "{depth}");
                asked.json(
                    400,
                    "",
                    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
                );
            }
        },
    );
}

/// XH-07, XH-09
#[test]
fn arguments_go_into_headers_once_the_tools_are_known() {
    check_in(
        MODERN[0],
        |client| async move {
            let zone = std::collections::HashMap::from([("zone", "ок")]);
            client.call_tool("good", &zone).await.unwrap();
            let tools = client.tools().all().await.unwrap();
            let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names, ["good"]);
            client.call_tool("good", &zone).await.unwrap();
        },
        |site| async move {
            let done = r#"{"resultType":"complete","content":[]}"#;
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-param-zone"), "");
            asked.result(done);
            let tool = |name, header| {
                format!(
                    r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"zone":{{"type":"string","x-mcp-header":"{header}"}}}}}}}}"#
                )
            };
            let tools = format!("{},{}", tool("bad", "a b"), tool("good", "Zone"));
            site.expect("tools/list").await.result(&format!(
                r#"{{"resultType":"complete","tools":[{tools}],"ttlMs":0,"cacheScope":"private"}}"#
            ));
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-param-zone"), "=?base64?0L7Qug==?=");
            asked.result(done);
        },
    );
}

/// XH-17
#[test]
fn headers_that_nobody_knew_of_are_looked_up_once() {
    check_in(
        MODERN[0],
        |client| async move {
            let zone = std::collections::HashMap::from([("zone", "a")]);
            client.call_tool("good", &zone).await.unwrap();
            let error = client.call_tool("good", &zone).await.unwrap_err();
            assert!(matches!(error, CallError::Server(error) if error.code == -32020));
        },
        |site| async move {
            let mismatch = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"m"}}"#;
            let asked = site.expect("tools/call").await;
            asked.json(400, "", mismatch);
            let tools = r#"{"name":"good","inputSchema":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}}"#;
            let tools = format!(
                r#"{{"resultType":"complete","tools":[{tools}],"ttlMs":0,"cacheScope":"private"}}"#
            );
            site.expect("tools/list").await.result(&tools);
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-param-zone"), "a");
            asked.result(r#"{"resultType":"complete","content":[]}"#);
            // What it knows may be wrong for good.
            site.expect("tools/call").await.json(400, "", mismatch);
            site.expect("tools/list").await.result(&tools);
            site.expect("tools/call").await.json(400, "", mismatch);
        },
    );
}

/// SC-21: not at once, and less and less often while nothing comes of it. SB-09.
#[test]
fn a_subscription_that_broke_off_is_asked_for_anew() {
    check_in(
        MODERN[0],
        |client| async move {
            let mut changes = client.changes().await.unwrap();
            assert_eq!(changes.next().await, Some(Update::Tools));
            for _ in 0..5 {
                assert_eq!(changes.next().await, Some(Update::Reconnected));
            }
            assert_eq!(changes.next().await, Some(Update::Tools));
            assert_eq!(changes.next().await, Some(Update::Reconnected));
            assert_eq!(changes.next().await, Some(Update::Reconnected));
            assert_eq!(changes.next().await, None);
        },
        |site| async move {
            let stream = listen(&site, 0).await;
            stream.1.event(&stream.0);
            sleep(Duration::from_secs(1)).await;
            stream.1.cut();
            // Whatever goes wrong, and be it acknowledged.
            for attempt in 0..12 {
                let most = 1_000 << attempt.min(6);
                match attempt % 3 {
                    0 => listen(&site, most).await.1.end(),
                    1 => asked(&site, most).await.refuse(503, ""),
                    _ => asked(&site, most).await.vanish(),
                }
            }
            let stream = listen(&site, 60_000).await;
            stream.1.event(&stream.0);
            stream.1.end();
            // One that told something, or stood for long, was no failure.
            let stream = listen(&site, 1_000).await;
            sleep(Duration::from_secs(60)).await;
            stream.1.cut();
            let stream = listen(&site, 1_000).await;
            stream.1.end();
            asked(&site, 2_000).await.refuse(401, "");
            sleep(Duration::from_secs(100)).await;
            site.quiet();
        },
    );
}

/// RFC 9110, 10.2.3
#[test]
fn a_server_says_when_a_subscription_is_to_be_asked_for_again() {
    check_in(
        MODERN[0],
        |client| async move {
            let mut changes = client.changes().await.unwrap();
            assert_eq!(changes.next().await, Some(Update::Reconnected));
        },
        |site| async move {
            listen(&site, 0).await.1.cut();
            asked(&site, 1_000)
                .await
                .refuse_with(503, &[("retry-after", "300")]);
            let before = mcp_async::runtime::Runtime::now(&crate::sim::Sim).as_millis();
            let asked = site.expect("subscriptions/listen").await;
            assert_eq!(asked.at - before, 300_000);
            let acknowledged = acknowledged(asked.id());
            asked.stream().event(&acknowledged);
            sleep(Duration::from_secs(1)).await;
        },
    );
}

/// A client that is closed does not wait for the next attempt.
#[test]
fn a_subscription_ends_with_its_client() {
    check_in(
        MODERN[0],
        |client| async move {
            let mut changes = client.changes().await.unwrap();
            let closing = client.clone();
            crate::sim::spawn(async move {
                sleep(Duration::from_millis(1_100)).await;
                closing.close().await.unwrap();
            });
            assert_eq!(changes.next().await, None);
        },
        |site| async move {
            let stream = listen(&site, 0).await;
            sleep(Duration::from_secs(1)).await;
            stream.1.cut();
        },
    );
}

/// The next request for a subscription, after a pause of so many milliseconds at most and half of
/// that at least.
async fn asked(site: &HttpServer, most: u64) -> Asked {
    let most = most.min(60_000);
    let before = mcp_async::runtime::Runtime::now(&crate::sim::Sim).as_millis();
    let asked = site.expect("subscriptions/listen").await;
    let waited = asked.at - before;
    assert!(most / 2 <= waited && waited <= most, "{waited} of {most}");
    asked
}

/// A subscription that is acknowledged, and what can be told of it.
async fn listen(site: &HttpServer, most: u64) -> (String, Wire) {
    let asked = asked(site, most).await;
    assert_eq!(asked.field("mcp-method"), "subscriptions/listen");
    let id = asked.id().to_owned();
    let stream = asked.stream();
    stream.event(&acknowledged(&id));
    (tools_changed(&id), stream)
}
