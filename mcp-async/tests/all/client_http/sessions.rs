//! Sessions that a server loses (SC-10).

use core::cell::Cell;
use core::time::Duration;
use std::collections::HashMap;
use std::rc::Rc;

use mcp_async::client::CallError;
use mcp_async::model::LoggingLevel;
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::scripted::http_server::{Asked, HttpServer, check_in};
use crate::sim::{sleep, spawn};

const LATEST: &[Revision] = &[Revision::V2025_11_25];

#[test]
fn what_met_404_is_sent_once_more_in_a_new_session() {
    check_in(
        LATEST[0],
        |client| async move {
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            client.close().await.unwrap();
        },
        |site| async move {
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-session-id"), "s-1");
            asked.refuse(404, "");
            let asked = site.expect("\"initialize\"").await;
            assert_eq!(asked.field("mcp-session-id"), "");
            let session = format!("s-{}", asked.id());
            asked.session(Revision::V2025_11_25);
            site.expect("notifications/initialized").await.accept();
            let mut asked = site.next().await;
            if asked.verb == "GET" {
                asked.refuse(405, "");
                asked = site.next().await;
            }
            assert_eq!(asked.field("mcp-session-id"), session);
            assert!(asked.body.contains("tools/call"));
            asked.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
            let mut asked = site.next().await;
            if asked.verb == "GET" {
                asked.refuse(405, "");
                asked = site.next().await;
            }
            assert_eq!(asked.verb, "DELETE");
            asked.accept();
        },
    );
}

#[test]
fn a_call_moves_once() {
    check_in(
        LATEST[0],
        |client| async move {
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Session)));
        },
        |site| async move {
            site.expect("tools/call").await.refuse(404, "");
            site.open(Revision::V2025_11_25).await;
            site.expect("tools/call").await.refuse(404, "");
            site.expect("\"initialize\"").await;
        },
    );
}

/// RS-16: a server may handle two requests in the order that it likes.
#[test]
fn a_resource_that_is_needed_again_is_subscribed_to_after_its_end() {
    check_in(
        LATEST[0],
        |client| async move {
            drop(client.subscribe("file:///a").await.unwrap());
            sleep(Duration::from_secs(1)).await;
            let _changes = client.subscribe("file:///a").await.unwrap();
            sleep(Duration::from_secs(2)).await;
        },
        |site| async move {
            site.expect("resources/subscribe").await.result("{}");
            let end = site.expect("resources/unsubscribe").await;
            site.expect("resources/subscribe").await.result("{}");
            end.result("{}");
            site.expect("resources/subscribe").await.result("{}");
        },
    );
}

/// SC-10, SB-10
#[test]
fn what_a_session_knew_is_restored_before_anything_else() {
    check_in(
        LATEST[0],
        |client| async move {
            client.set_log_level(LoggingLevel::Error).await.unwrap();
            let _changes = client.subscribe("file:///a").await.unwrap();
            for (name, wait) in [("b", 0), ("c", 1500), ("d", 2500), ("e", 0)] {
                let client = client.clone();
                spawn(async move {
                    sleep(Duration::from_millis(wait)).await;
                    let called = client.call_tool(name, &()).await;
                    match name {
                        "e" => assert!(matches!(called, Err(CallError::Failed(Failure::Broken)))),
                        _ => assert!(called.unwrap().content.is_empty()),
                    }
                });
            }
            client.call_tool("a", &()).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        },
        |site| async move {
            site.expect("logging/setLevel").await.result("{}");
            site.expect("resources/subscribe").await.result("{}");
            // The server begins to answer one of them, and how far it got is not known.
            let mut asked = HashMap::new();
            for _ in 0..3 {
                let call = site.expect("tools/call").await;
                asked.insert(tool(&call), call);
            }
            let begun = asked.remove("e").unwrap().stream();
            sleep(Duration::from_millis(100)).await;
            asked.remove("a").unwrap().refuse(404, "");
            site.expect("\"initialize\"").await.session(LATEST[0]);
            assert!(begun.is_dropped());
            let asked = site.expect("notifications/initialized").await;
            let session = asked.field("mcp-session-id").to_owned();
            // Each goes alone, and the next one when it is answered.
            sleep(Duration::from_secs(1)).await;
            site.quiet();
            asked.accept();
            let (get, level) = streams(&site).await;
            get.refuse(405, "");
            assert!(level.body.contains("logging/setLevel"), "{}", level.body);
            assert!(level.body.contains("\"error\""), "{}", level.body);
            sleep(Duration::from_secs(1)).await;
            site.quiet();
            level.result("{}");
            let asked = site.expect("resources/subscribe").await;
            assert!(asked.body.contains("file:///a"), "{}", asked.body);
            sleep(Duration::from_secs(1)).await;
            site.quiet();
            asked.result("{}");
            // Those of the lost session, and those that were made since.
            let mut names = Vec::new();
            for _ in 0..4 {
                let asked = site.expect("tools/call").await;
                assert_eq!(asked.field("mcp-session-id"), session);
                names.push(tool(&asked));
                asked.result(r#"{"content":[]}"#);
            }
            names.sort();
            assert_eq!(names, ["a", "b", "c", "d"]);
        },
    );
}

/// Replies that arrive together with the loss: an answer counts, and what had begun is not made again.
#[test]
fn what_arrives_with_the_loss_of_a_session() {
    check_in(
        LATEST[0],
        |client| async move {
            let ended = Rc::new(Cell::new(0));
            for name in ["a", "b", "c", "d"] {
                let (client, ended) = (client.clone(), Rc::clone(&ended));
                spawn(async move {
                    let called = client.call_tool(name, &()).await;
                    match name {
                        "a" | "b" => {
                            assert!(matches!(called, Err(CallError::Failed(Failure::Broken))));
                        }
                        _ => assert_eq!(called.unwrap().text(), name),
                    }
                    ended.set(ended.get() + 1);
                });
            }
            sleep(Duration::from_secs(10)).await;
            assert_eq!(ended.get(), 4);
        },
        |site| async move {
            let mut asked = HashMap::new();
            for _ in 0..4 {
                let call = site.expect("tools/call").await;
                asked.insert(tool(&call), call);
            }
            let mut take = |name: &str| asked.remove(name).unwrap();
            let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            // The streams of both break, and are asked for again.
            for name in ["a", "b"] {
                let stream = take(name).stream();
                stream.event_with_id(name, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
                stream.end();
            }
            let resumed = [site.expect("GET").await, site.expect("GET").await];
            take("c").result(&text("c"));
            for resumed in resumed {
                resumed.refuse(404, "");
            }
            take("d").refuse(404, "");
            site.open(LATEST[0]).await;
            let again = site.expect("tools/call").await;
            assert_eq!(tool(&again), "d");
            again.result(&text("d"));
        },
    );
}

#[test]
fn a_session_that_is_lost_while_it_is_restored() {
    check_in(
        LATEST[0],
        |client| async move {
            client.set_log_level(LoggingLevel::Error).await.unwrap();
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            site.expect("logging/setLevel").await.result("{}");
            site.expect("tools/call").await.refuse(404, "");
            for last in [false, true] {
                site.expect("\"initialize\"").await.session(LATEST[0]);
                site.expect("notifications/initialized").await.accept();
                let (get, level) = streams(&site).await;
                get.refuse(405, "");
                assert!(level.body.contains("logging/setLevel"), "{}", level.body);
                match last {
                    false => level.refuse(404, ""),
                    true => level.result("{}"),
                }
            }
            // The one that was under way moved, too.
            site.expect("logging/setLevel").await.result("{}");
            site.expect("tools/call").await.result(r#"{"content":[]}"#);
        },
    );
}

/// The name of the tool that is called, of one letter.
fn tool(asked: &Asked) -> String {
    let (_, name) = asked.body.split_once("\"name\":\"").unwrap();
    name[..1].to_owned()
}

/// The request for the server's own stream, and the one beside it.
async fn streams(site: &HttpServer) -> (Asked, Asked) {
    let (first, second) = (site.next().await, site.next().await);
    match &*first.verb {
        "GET" => (first, second),
        _ => (second, first),
    }
}
