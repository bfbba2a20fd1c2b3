//! Servers that say too much, and hear nothing.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;

use mcp_async::client::CallError;
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::client_http::site::{check, sleep};
use crate::sim::spawn;

const LATEST: &[Revision] = &[Revision::V2025_11_25];

/// Answers that nobody takes are not made without end, and hold up nobody for ever.
#[test]
fn a_flood_of_questions_is_answered_as_fast_as_the_server_listens() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            sleep(Duration::from_secs(90)).await;
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            site.expect("\"initialize\"").await.session(LATEST[0]);
            site.expect("notifications/initialized").await.accept();
            let stream = site.expect("GET").await.stream();
            for id in 0..20_000 {
                stream.event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
            }
            sleep(Duration::from_secs(1)).await;
            let deaf = site.take();
            assert!((100..2_000).contains(&deaf.len()), "{}", deaf.len());
            sleep(Duration::from_secs(70)).await;
            assert!(deaf.iter().all(crate::client_http::site::Asked::is_dropped));
            let mut answered = deaf.len();
            loop {
                let asked = site.next().await;
                if asked.body.contains("tools/call") {
                    asked.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
                    break;
                }
                answered += 1;
                asked.accept();
            }
            assert_eq!(answered, 20_000);
        },
    );
}

/// The gate behind the handshake opens although the server never takes `initialized`.
#[test]
fn a_server_that_never_takes_what_it_is_told() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            let _ = client.close().await;
        },
        |site| async move {
            site.expect("\"initialize\"").await.session(LATEST[0]);
            let told = site.expect("notifications/initialized").await;
            let call = loop {
                let asked = site.next().await;
                match asked.verb.as_str() {
                    "GET" => asked.refuse(405, ""),
                    _ => break asked,
                }
            };
            assert!(told.is_dropped());
            call.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
            let deleted = site.expect("DELETE").await;
            sleep(Duration::from_secs(70)).await;
            assert!(deleted.is_dropped());
        },
    );
}

/// A reply that never pauses leaves others their turn.
#[test]
fn a_reply_without_a_pause_starves_nobody() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Broken)));
        },
        |site| async move {
            site.open(LATEST[0]).await;
            let asked = site.expect("tools/call").await;
            spawn(async move {
                let stream = asked.stream();
                for _ in 0..1_000_000 {
                    stream.send_static(":\n\n");
                }
                for _ in 0..4 {
                    pause().await;
                }
                assert_ne!(stream.left(), 0, "all of it at once");
                stream.cut();
            });
            site.expect("notifications/cancelled").await.accept();
        },
    );
}

/// Lets other tasks have their turn.
async fn pause() {
    let mut paused = false;
    poll_fn(|cx| {
        if core::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
