//! Sessions that a server loses (SC-10).

use mcp_async::client::CallError;
use mcp_async::model::LoggingLevel;
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::site::check;

const LATEST: &[Revision] = &[Revision::V2025_11_25];

#[test]
fn what_met_404_is_sent_once_more_in_a_new_session() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            client.close().await.unwrap();
        },
        |site| async move {
            site.open(Revision::V2025_11_25).await;
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
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Session)));
        },
        |site| async move {
            site.open(Revision::V2025_11_25).await;
            site.expect("tools/call").await.refuse(404, "");
            site.open(Revision::V2025_11_25).await;
            site.expect("tools/call").await.refuse(404, "");
            site.expect("\"initialize\"").await;
        },
    );
}

#[test]
fn the_log_level_is_restored() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            client.set_log_level(LoggingLevel::Error).await.unwrap();
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            site.open(Revision::V2025_11_25).await;
            site.expect("logging/setLevel").await.result("{}");
            site.expect("tools/call").await.refuse(404, "");
            site.expect("\"initialize\"").await.session(LATEST[0]);
            site.expect("notifications/initialized").await.accept();
            let (mut level, mut call) = (false, false);
            while !(level && call) {
                let asked = site.next().await;
                if asked.verb == "GET" {
                    asked.refuse(405, "");
                } else if asked.body.contains("logging/setLevel") {
                    level = true;
                    assert!(asked.body.contains("\"error\""), "{}", asked.body);
                    asked.result("{}");
                } else {
                    assert!(asked.body.contains("tools/call"), "{}", asked.body);
                    // The client is done with the answer, so it waits for the level.
                    if !level {
                        let again = site.expect("logging/setLevel").await;
                        level = true;
                        again.result("{}");
                    }
                    call = true;
                    asked.result(r#"{"content":[]}"#);
                }
            }
        },
    );
}
