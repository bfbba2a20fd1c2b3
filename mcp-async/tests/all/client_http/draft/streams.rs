//! Sessions, their streams, and what is asked there.

use crate::sim::{Sim, sleep};
use core::time::Duration;

use super::*;
use crate::scripted::said;

#[test]
fn sessions_and_resumption() {
    each_listening(
        |client| async move {
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            client.close().await.unwrap();
        },
        |site, own| async move {
            let asked = site.expect("tools/call").await;
            asked.says(&[("mcp-session-id", "s-1")]);
            let id = asked.id().to_owned();
            let stream = asked.stream();
            stream.send("id: e-1\ndata:\n\n");
            stream.end();
            let asked = site.expect("GET").await;
            asked.says(&[
                ("mcp-session-id", "s-1"),
                ("last-event-id", "e-1"),
                ("mcp-method", ""),
            ]);
            asked.stream().event(&said(&id, "hi"));
            let asked = site.expect("DELETE").await;
            asked.says(&[("mcp-session-id", "s-1"), ("mcp-method", "")]);
            asked.accept();
            drop(own);
        },
    );
}

/// A server without streams of its own, and one whose sessions end by themselves.
#[test]
fn methods_that_are_refused() {
    each(
        |client| async move {
            client.call_tool("a", &()).await.unwrap();
            client.close().await.unwrap();
        },
        |site| async move {
            site.expect("tools/call").await.done();
            site.expect("DELETE").await.refuse(405, "");
        },
    );
}

#[test]
fn what_comes_on_the_stream_of_a_call_is_served() {
    each(
        |client| async move { drop(client.call_tool("a", &()).await.unwrap()) },
        |site| async move {
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.event_with_id("e-1", FORM);
            let answer = site.expect(r#""id":"q""#).await;
            assert!(answer.body.contains("decline"), "{}", answer.body);
            answer.accept();
            // Also where it goes on.
            stream.end();
            let stream = site.expect("GET").await.stream();
            stream.event(&FORM.replace("\"q\"", "\"r\""));
            let answer = site.expect(r#""id":"r""#).await;
            assert!(answer.body.contains("decline"), "{}", answer.body);
            answer.accept();
            stream.event(&format!(r#"{id} = {{"content":[]}}"#));
        },
    );
}

#[test]
fn the_stream_of_a_get_has_notifications_and_pings() {
    each_listening(
        |client| async move {
            let mut logs = client.logs();
            assert_eq!(logs.next().await.unwrap().data.as_raw().as_str(), "1");
            client.ping().await.unwrap();
        },
        |site, own| async move {
            own.event(LOG);
            own.event(r#""p" ping"#);
            let mut asked = site.next().await;
            if asked.body.contains(r#""method":"ping""#) {
                asked.result("{}");
                asked = site.next().await;
                assert!(asked.body.contains(r#""id":"p","result":{}"#));
                return asked.accept();
            }
            assert!(asked.body.contains(r#""id":"p","result":{}"#));
            asked.accept();
            site.expect("ping").await.result("{}");
        },
    );
}

#[test]
fn what_is_asked_on_the_stream_of_a_get_is_refused() {
    let questions = [
        (
            "elicitation/create",
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        ),
        ("roots/list", "{}"),
        ("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
        ("odd/method", "{}"),
    ];
    for (method, params) in questions {
        each_listening(
            |client| async move {
                let mut logs = client.logs();
                assert_eq!(logs.next().await.unwrap().data.as_raw().as_str(), "1");
            },
            |site, own| async move {
                own.event(&format!(r#""q" {method} {params}"#));
                let refused = site.expect(r#""id":"q","error":{"code":-32602"#).await;
                refused.says(&[("mcp-session-id", "s-1"), ("mcp-method", "")]);
                refused.accept();
                // And the stream goes on.
                own.event(LOG);
                site.expect("DELETE").await.accept();
                drop(own);
            },
        );
    }
    // A plain session of the same shape serves it.
    check(
        |site| async move {
            let builder = site
                .client(&[LATEST])
                .roots([Root::new("file:///home/ada")]);
            let client = site.join(builder).await.unwrap();
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            site.expect("\"initialize\"").await.all(LATEST);
            site.expect("notifications/initialized").await.accept();
            let own = site.expect("GET").await.stream();
            let call = site.expect("tools/call").await;
            own.event(r#""q" roots/list"#);
            let answer = site.expect(r#""id":"q","result":{"roots""#).await;
            answer.accept();
            call.done();
        },
    );
}

/// Arrays are not of the draft: nobody answers one, and no message of the client's is one.
#[test]
fn bodies_are_single_messages() {
    each_listening(
        |client| async move { client.ping().await.unwrap() },
        |site, own| async move {
            let asked = site.expect("ping").await;
            assert!(asked.body.starts_with('{'));
            own.event(r#"[{"jsonrpc":"2.0","id":"p","method":"ping"}]"#);
            sleep(Duration::from_secs(1)).await;
            site.quiet();
            asked.result("{}");
        },
    );
}

#[test]
fn priming_and_polling() {
    each(
        |client| async move { drop(client.call_tool("a", &()).await.unwrap()) },
        |site| async move {
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.send("id: e-0\nretry: 700\ndata:\n\n");
            stream.end();
            let before = mcp_async::runtime::Runtime::now(&Sim).as_millis();
            let asked = site.expect("GET").await;
            assert_eq!(asked.at - before, 700);
            asked.stream().event(&format!(r#"{id} = {{"content":[]}}"#));
        },
    );
}

/// Once a version is agreed on no request is without it, GET and DELETE included.
#[test]
fn versions_that_are_missing() {
    for (revision, switched) in WAYS {
        check(
            |site| async move {
                let client = client(&site, revision, switched).await;
                client.call_tool("a", &()).await.unwrap();
                client.close().await.unwrap();
            },
            |site| async move {
                site.expect("\"initialize\"").await.all(revision);
                for expected in ["initialized", "GET", "tools/call", "DELETE"] {
                    let asked = site.expect(expected).await;
                    asked.says(&[("mcp-protocol-version", revision.as_str())]);
                    match expected {
                        "GET" => asked.refuse(405, ""),
                        "tools/call" => asked.done(),
                        _ => asked.accept(),
                    }
                }
            },
        );
    }
}

/// The server is one of 2024-11-05: what is sent to its second endpoint repeats nothing.
#[test]
fn the_two_endpoints_beside_it() {
    for status in [400, 404, 405] {
        check(
            |site| async move {
                let builder = site
                    .client(&[Revision::V2024_11_05, LATEST])
                    .roots([Root::new("file:///home/ada")])
                    .draft_profile();
                let client = site.join(builder).await.unwrap();
                client.ping().await.unwrap();
            },
            |site| async move {
                site.expect("\"initialize\"").await.refuse(status, "");
                let stream = site.expect("GET").await.stream();
                stream.send("event: endpoint\ndata: /messages\n\n");
                let asked = site.expect("\"initialize\"").await;
                asked.says(&[("mcp-method", "")]);
                let id = asked.id().to_owned();
                asked.accept();
                stream.event(&format!(
                    r#"{id} = {{"protocolVersion":"2024-11-05","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}"#
                ));
                let asked = site.expect("notifications/initialized").await;
                asked.says(&[("mcp-method", "")]);
                asked.accept();
                // There is one stream, so everything may come on it.
                stream.event(r#""q" roots/list"#);
                for _ in 0..2 {
                    let asked = site.next().await;
                    asked.says(&[("mcp-method", "")]);
                    if asked.body.contains("ping") {
                        let id = asked.id().to_owned();
                        stream.event(&format!("{id} = {{}}"));
                    } else {
                        assert!(asked.body.contains(r#""id":"q","result""#));
                    }
                    asked.accept();
                }
            },
        );
    }
}

const LOG: &str = r#"- notifications/message {"level":"info","data":1}"#;
