//! Which era a server is of, and what becomes of one that says nothing useful.

use crate::scripted::http_server::{HttpServer, Wire, check};
use crate::scripted::said;
use crate::settings::limits;
use crate::sim::{Sim, sleep};
use core::time::Duration;
use mcp_async::client::{CallError, ConnectError, RestartPolicy};
use mcp_async::http::HttpConnector;
use mcp_proto::Revision;
use mcp_proto::client::Failure;

const ALL: &[Revision] = &Revision::ALL;

/// SC-01, SC-02, SC-17, SC-18.
#[test]
fn a_modern_server() {
    check(
        |site| async move {
            let client = site.connect(ALL).await.unwrap();
            assert_eq!(client.info().revision, Revision::V2026_07_28);
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            client.close().await.unwrap();
        },
        |site| async move {
            let asked = site.expect("server/discover").await;
            assert_eq!(asked.target, "http://localhost/mcp?x=1");
            assert_eq!(asked.field("mcp-protocol-version"), "2026-07-28");
            assert_eq!(asked.field("mcp-method"), "server/discover");
            let accept = "application/json, text/event-stream";
            assert_eq!(asked.field("accept"), accept);
            assert_eq!(asked.field("content-type"), "application/json");
            asked.discovered();
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-name"), "a");
            asked.result(r#"{"resultType":"complete","content":[{"type":"text","text":"hi"}]}"#);
            site.quiet();
        },
    );
}

#[test]
fn the_first_request_is_refused_for_its_version() {
    check(
        |site| async move {
            let client = site.connect(ALL).await.unwrap();
            assert_eq!(client.info().revision, Revision::V2026_07_28);
        },
        |site| async move {
            let asked = site.expect("server/discover").await;
            let id = asked.id().to_owned();
            asked.json(400, "", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"m","data":{{"supported":["2026-07-28"],"requested":"x"}}}}}}"#));
            site.expect("server/discover").await.discovered();
        },
    );
}

/// SC-07, SC-09, SC-11, SC-15, VR-16.
#[test]
fn a_legacy_server() {
    for status in [400, 404, 405] {
        check(
            |site| async move {
                let client = site.connect(ALL).await.unwrap();
                assert_eq!(client.info().revision, Revision::V2025_11_25);
                assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
                client.close().await.unwrap();
            },
            |site| async move {
                site.expect("server/discover").await.refuse(status, "no");
                let asked = site.expect("\"initialize\"").await;
                assert_eq!(asked.field("mcp-session-id"), "");
                assert_eq!(asked.field("mcp-protocol-version"), "");
                asked.session(Revision::V2025_11_25);
                let asked = site.expect("notifications/initialized").await;
                assert_eq!(asked.field("mcp-session-id"), "s-2");
                assert_eq!(asked.field("mcp-protocol-version"), "2025-11-25");
                // Nothing overtakes it.
                site.quiet();
                asked.accept();
                let get = site.expect("GET").await;
                assert_eq!(get.field("accept"), "text/event-stream");
                assert_eq!(get.field("mcp-session-id"), "s-2");
                get.refuse(405, "");
                let call = site.expect("tools/call").await;
                call.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
                let asked = site.expect("DELETE").await;
                assert_eq!(asked.field("mcp-session-id"), "s-2");
                asked.refuse(405, "");
            },
        );
    }
}

/// SC-26, HS-02, HS-03, HS-06, HS-09.
#[test]
fn a_server_of_two_endpoints() {
    check(
        |site| async move {
            let client = site.connect(ALL).await.unwrap();
            assert_eq!(client.info().revision, Revision::V2024_11_05);
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            let error = client.call_tool("b", &()).await.unwrap_err();
            assert_eq!(error.to_string(), "the connection is over");
        },
        |site| async move {
            site.expect("server/discover").await.refuse(404, "");
            site.expect("\"initialize\"").await.refuse(405, "");
            let asked = site.expect("GET").await;
            assert_eq!(asked.target, "http://localhost/mcp?x=1");
            let stream = asked.stream();
            stream.event("- notifications/message");
            stream.send("event: endpoint\ndata: /messages?c=8f0c\n\n");
            let asked = site.expect("\"initialize\"").await;
            assert_eq!(asked.target, "http://localhost/messages?c=8f0c");
            let id = asked.id().to_owned();
            asked.accept();
            stream.event(&format!(r#"{id} = {{"protocolVersion":"2024-11-05","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#));
            site.expect("notifications/initialized").await.accept();
            let asked = site.expect("tools/call").await;
            let id = asked.id().to_owned();
            asked.accept();
            sleep(Duration::from_secs(9)).await;
            stream.event(&said(&id, "hi"));
            site.expect("tools/call").await.accept();
            stream.end();
        },
    );
}

#[test]
fn a_connector_is_shown_without_secrets() {
    let connector = HttpConnector::new(Sim, "https://user:password@a.example/mcp?key=secret");
    let shown = format!("{connector:?}");
    assert!(shown.contains("\"https://a.example/mcp\""), "{shown}");
    for secret in ["user", "password", "secret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// HS-07.
#[test]
fn an_endpoint_elsewhere_is_none() {
    check(
        |site| async move {
            let error = site.connect(&[Revision::V2024_11_05]).await.unwrap_err();
            assert!(matches!(error, ConnectError::Failed(Failure::Status(404))));
        },
        |site| async move {
            site.expect("\"initialize\"").await.refuse(404, "");
            let stream = site.expect("GET").await.stream();
            stream.send("event: endpoint\ndata: https://attacker.example/\n\n");
        },
    );
}

/// VR-26, VR-31.
#[test]
fn what_is_no_server() {
    check(
        |site| async move {
            let error = site.connect(ALL).await.unwrap_err();
            assert!(matches!(error, ConnectError::Failed(Failure::Status(401))));
            let error = site.connect(ALL).await.unwrap_err();
            assert!(matches!(error, ConnectError::Unreachable(cause) if cause == "cut"));
            let error = site.connect(ALL).await.unwrap_err();
            assert!(matches!(error, ConnectError::Failed(Failure::Status(404))));
            let builder = site.client(ALL).header("Mcp-Name", "x");
            let error = site.join(builder).await.unwrap_err();
            assert!(matches!(error, ConnectError::Header(name) if name == "Mcp-Name"));
            let builder = site.client(ALL);
            let error = builder
                .connect(HttpConnector::new(Sim, "ftp://a").through(site))
                .await
                .unwrap_err();
            assert!(matches!(error, ConnectError::Url(_)));
        },
        |site| async move {
            site.expect("server/discover").await.refuse(401, "");
            site.expect("server/discover").await.vanish();
            for what in ["server/discover", "\"initialize\"", "GET"] {
                site.expect(what).await.refuse(404, "<html>");
            }
        },
    );
}

/// HS-10, VR-17: the stream is not resumed but opened anew, and the server's era remembered, until
/// it turns out to be another one.
#[test]
fn a_server_of_two_endpoints_that_went_away() {
    check(
        |site| async move {
            let builder = site.client(ALL).restart(RestartPolicy::default());
            let client = site.join(builder).await.unwrap();
            for expected in [Revision::V2024_11_05, Revision::V2026_07_28] {
                let error = client.call_tool("a", &()).await.unwrap_err();
                assert!(matches!(error, CallError::Closed));
                assert_eq!(client.call_tool("b", &()).await.unwrap().text(), "hi");
                assert_eq!(client.info().revision, expected);
            }
        },
        |site| async move {
            site.expect("server/discover").await.refuse(404, "");
            let stream = two_endpoints(&site).await;
            site.expect("tools/call").await.accept();
            stream.send("data: {\"jsonrpc\"");
            stream.cut();
            let stream = two_endpoints(&site).await;
            let asked = site.expect("tools/call").await;
            let id = asked.id().to_owned();
            asked.accept();
            stream.event(&said(&id, "hi"));
            site.expect("tools/call").await.accept();
            stream.end();
            site.expect("\"initialize\"").await.vanish();
            site.expect("server/discover").await.discovered();
            site.expect("tools/call")
                .await
                .result(r#"{"resultType":"complete","content":[{"type":"text","text":"hi"}]}"#);
        },
    );
}

/// RFC 9110, 10.2.3
#[test]
fn a_server_says_when_it_is_to_be_connected_to_again() {
    check(
        |site| async move {
            let builder = site.client(ALL).restart(RestartPolicy::default());
            let client = site.join(builder).await.unwrap();
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Closed));
            assert_eq!(client.call_tool("b", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            site.expect("server/discover").await.refuse(404, "");
            let stream = two_endpoints(&site).await;
            site.expect("tools/call").await.accept();
            stream.end();
            let asked = site.expect("\"initialize\"").await;
            let before = asked.at;
            asked.refuse_with(503, &[("retry-after", "100")]);
            let asked = site.expect("server/discover").await;
            assert_eq!(asked.at - before, 100_000);
            asked.discovered();
            site.expect("tools/call")
                .await
                .result(r#"{"resultType":"complete","content":[{"type":"text","text":"hi"}]}"#);
        },
    );
}

/// SSE-10: all answers come in one stream, which goes on behind one that is too long.
#[test]
fn an_answer_over_the_limit_from_a_server_of_two_endpoints() {
    check(
        |site| async move {
            let limits = limits(|it| it.message = 2_000);
            let builder = site.client(&[Revision::V2024_11_05]).limits(limits);
            let client = site.join(builder).await.unwrap();
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert_eq!(error.to_string(), "the answer exceeds the size limit");
            assert_eq!(client.call_tool("b", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            let stream = two_endpoints(&site).await;
            for text in ["x".repeat(2_000), "hi".to_owned()] {
                let asked = site.expect("tools/call").await;
                let id = asked.id().to_owned();
                asked.accept();
                stream.event(&said(&id, &text));
            }
        },
    );
}

/// Opens a session of 2024-11-05.
async fn two_endpoints(site: &HttpServer) -> Wire {
    site.expect("\"initialize\"").await.refuse(405, "");
    let stream = site.expect("GET").await.stream();
    stream.send("event: endpoint\ndata: /messages?c=8f0c\n\n");
    let asked = site.expect("\"initialize\"").await;
    let id = asked.id().to_owned();
    asked.accept();
    stream.event(&format!(r#"{id} = {{"protocolVersion":"2024-11-05","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#));
    site.expect("notifications/initialized").await.accept();
    stream
}
