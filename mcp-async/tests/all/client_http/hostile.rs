//! Servers that say too much, and hear nothing.

use crate::scripted::http_server::{check, check_in};
use crate::sim::{Sim, sleep, spawn, yield_now};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use mcp_async::http::HttpConnector;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mcp_async::client::CallError;
use mcp_proto::Revision;
use mcp_proto::client::Failure;
use tower_service::Service;

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
            let stream = site.open_listening(LATEST[0]).await.stream();
            for id in 0..5_000 {
                stream.event(&format!("{id} ping"));
            }
            sleep(Duration::from_secs(1)).await;
            let deaf = site.take();
            assert!((100..2_000).contains(&deaf.len()), "{}", deaf.len());
            sleep(Duration::from_secs(70)).await;
            assert!(
                deaf.iter()
                    .all(crate::scripted::http_server::Asked::is_dropped)
            );
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
            assert_eq!(answered, 5_000);
        },
    );
}

/// What no call waits for holds up no call.
#[test]
fn calls_do_not_wait_for_a_server_that_takes_no_answers() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            sleep(Duration::from_secs(2)).await;
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            let call = poll_once(client.call_tool("b", &())).await;
            assert!(call.is_none(), "it is given up");
            sleep(Duration::from_secs(3)).await;
        },
        |site| async move {
            let stream = site.open_listening(LATEST[0]).await.stream();
            for id in 0..400 {
                stream.event(&format!("{id} ping"));
            }
            sleep(Duration::from_secs(1)).await;
            let deaf = site.take();
            assert!((100..400).contains(&deaf.len()), "{}", deaf.len());
            let call = site.expect("tools/call").await;
            assert!(
                !deaf
                    .iter()
                    .any(crate::scripted::http_server::Asked::is_dropped)
            );
            call.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
            let _second = site.expect("tools/call").await;
            site.expect("notifications/cancelled").await.accept();
            assert!(
                !deaf
                    .iter()
                    .any(crate::scripted::http_server::Asked::is_dropped)
            );
        },
    );
}

/// Polls a future until nothing happens any more, and drops it then.
async fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..10 {
        let polled = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

#[test]
fn a_carrier_that_panics_holds_up_no_call() {
    for what in ["notifications/initialized", "GET"] {
        check(
            |site| async move {
                let mut server = site.clone();
                let carrier = tower::service_fn(move |request: Request<Full<Bytes>>| {
                    let text = format!("{} {:?}", request.method(), request.body());
                    assert!(!text.contains(what), "a fault of the carrier");
                    server.call(request)
                });
                let client = site.client(LATEST);
                let client = client
                    .connect(HttpConnector::new(Sim, "http://localhost/mcp").through(carrier));
                let client = client.await.unwrap();
                assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
                let _ = client.close().await;
            },
            |site| async move {
                site.expect("\"initialize\"").await.session(LATEST[0]);
                if what == "GET" {
                    site.expect("notifications/initialized").await.accept();
                }
                let call = site.expect("tools/call").await;
                call.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
                site.expect("DELETE").await.accept();
            },
        );
    }
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
    check_in(
        LATEST[0],
        |client| async move {
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Broken)));
        },
        |site| async move {
            let asked = site.expect("tools/call").await;
            spawn(async move {
                let stream = asked.stream();
                for _ in 0..100_000 {
                    stream.send_static(":\n\n");
                }
                for _ in 0..4 {
                    yield_now().await;
                }
                assert_ne!(stream.left(), 0, "all of it at once");
                stream.cut();
            });
            site.expect("notifications/cancelled").await.accept();
        },
    );
}
