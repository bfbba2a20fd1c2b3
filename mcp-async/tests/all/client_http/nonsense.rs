//! Servers that answer as no server should.

use core::time::Duration;

use mcp_async::client::{CallError, Client};
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::scripted::http_server::{Asked, HttpServer, check, check_in};
use crate::scripted::message;
use crate::sim::{Sim, sleep};

const LATEST: &[Revision] = &[Revision::V2025_11_25];

async fn fails(client: &Client, expected: Failure) {
    let error = client.call_tool("a", &()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Failed(failure) if failure == expected),
        "{error:?}, not {expected:?}"
    );
}

/// Each fails its own call, at once, and nothing else. SC-31.
#[test]
fn answers_that_are_none() {
    check_in(
        LATEST[0],
        |client| async move {
            let before = mcp_async::runtime::Runtime::now(&Sim);
            for _ in 0..5 {
                fails(&client, Failure::NoAnswer).await;
            }
            fails(&client, Failure::Broken).await;
            fails(&client, Failure::Status(400)).await;
            fails(&client, Failure::Status(302)).await;
            assert_eq!(mcp_async::runtime::Runtime::now(&Sim), before);
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            let done = r#"{"content":[]}"#;
            let answer = |id: &str| message(&format!("{id} = {done}"));
            site.expect("tools/call").await.accept();
            let asked = site.expect("tools/call").await;
            let text = answer(asked.id());
            asked.untyped(&text);
            let asked = site.expect("tools/call").await;
            let text = answer(&format!("\"{}\"", asked.id()));
            asked.json(200, "", &text);
            site.expect("tools/call")
                .await
                .json(200, "", &answer("4711"));
            site.expect("tools/call").await.json(200, "", "");
            // The answer to another request, and the end.
            let stream = site.expect("tools/call").await.stream();
            stream.event(&answer("4711"));
            stream.end();
            site.expect("notifications/cancelled").await.accept();
            let long = "x".repeat(1 << 20);
            site.expect("tools/call").await.refuse(400, &long);
            site.expect("tools/call").await.refuse(302, "");
            site.expect("tools/call").await.result(done);
        },
    );
}

/// SH-28
#[test]
fn session_ids_that_are_none() {
    for id in ["a b", "a\tb"] {
        check(
            |site| async move {
                let client = site.connect(LATEST).await.unwrap();
                client.call_tool("a", &()).await.unwrap();
                client.close().await.unwrap();
            },
            |site| async move {
                let asked = site.expect("\"initialize\"").await;
                let answer = format!(
                    r#"{} = {{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#,
                    asked.id()
                );
                asked.json(200, id, &answer);
                site.expect("notifications/initialized").await.accept();
                let asked = call_beside_get(&site).await;
                assert_eq!(asked.field("mcp-session-id"), "");
                asked.result(r#"{"content":[]}"#);
                sleep(Duration::from_secs(10)).await;
                site.quiet();
            },
        );
    }
}

async fn call_beside_get(site: &HttpServer) -> Asked {
    let (first, second) = (site.next().await, site.next().await);
    let (get, call) = match &*first.verb {
        "GET" => (first, second),
        _ => (second, first),
    };
    get.refuse(405, "");
    call
}

/// SC-13: whatever number a server names, neither is it asked without a pause nor never again.
#[test]
fn paces_that_are_none() {
    check(
        |site| async move {
            let _client = site.connect(LATEST).await.unwrap();
            sleep(Duration::from_secs(2 * 60 * 60)).await;
        },
        |site| async move {
            let mut before = site.open_listening(LATEST[0]).await;
            for round in 0..100 {
                let at = before.at;
                let stream = before.stream();
                stream.send(&format!("id: {round}\nretry: 0\ndata:\n\n"));
                stream.end();
                before = site.expect("GET").await;
                assert_eq!(before.at - at, 100);
            }
            let at = before.at;
            let stream = before.stream();
            stream.send("id: x\nretry: 99999999999999999999999999\ndata:\n\n");
            stream.end();
            let asked = site.expect("GET").await;
            assert_eq!(asked.at - at, 3_600_000);
            asked.refuse(405, "");
            site.expect("DELETE").await.accept();
        },
    );
}
