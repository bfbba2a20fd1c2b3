//! Streams that break off, and how they go on (SC-12, SC-13, SC-29).

use core::time::Duration;

use mcp_async::client::{CallError, ConnectError};
use mcp_async::model::{ElicitParams, ElicitResult};
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::scripted::http_server::{check, check_in};
use crate::scripted::said;
use crate::sim::sleep;

const LATEST: &[Revision] = &[Revision::V2025_11_25];

/// SC-12, SC-13.
#[test]
fn a_stream_that_the_server_closes_is_resumed_when_it_says_so() {
    check_in(
        LATEST[0],
        |client| async move {
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.send("id: e-0\nretry: 500\ndata:\n\n");
            // What is not ended does not count (SSE-05).
            stream.send("id: e-1\ndata: {");
            stream.cut();
            let before = mcp_async::runtime::Runtime::now(&crate::sim::Sim).as_millis();
            let asked = site.expect("GET").await;
            assert_eq!(asked.at - before, 500);
            assert_eq!(asked.field("last-event-id"), "e-0");
            assert_eq!(asked.field("mcp-session-id"), "s-1");
            let stream = asked.stream();
            stream.send("id: e-2\ndata:\n\n");
            stream.end();
            let asked = site.expect("GET").await;
            assert_eq!(asked.field("last-event-id"), "e-2");
            asked.stream().event(&said(&id, "hi"));
        },
    );
}

#[test]
fn a_call_whose_stream_broke_before_the_first_id_fails_and_is_cancelled() {
    check_in(
        LATEST[0],
        |client| async move {
            let error = client.call_tool("a", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(Failure::Broken)));
        },
        |site| async move {
            let stream = site.expect("tools/call").await.stream();
            stream.send(":\n\n");
            stream.cut();
            site.expect("notifications/cancelled").await.accept();
        },
    );
}

/// SC-07, SC-12.
#[test]
fn the_servers_own_stream() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            let mut logs = client.logs();
            for _ in 0..2 {
                assert_eq!(logs.next().await.unwrap().data.as_raw().as_str(), "1");
            }
        },
        |site| async move {
            site.expect("\"initialize\"").await.session(LATEST[0]);
            site.expect("notifications/initialized").await.accept();
            let log = r#"- notifications/message {"level":"info","data":1}"#;
            let stream = site.expect("GET").await.stream();
            stream.event_with_id("1", log);
            stream.end();
            let asked = site.expect("GET").await;
            assert_eq!(asked.field("last-event-id"), "1");
            asked.vanish();
            let stream = site.expect("GET").await.stream();
            stream.event(log);
            sleep(Duration::from_secs(1)).await;
        },
    );
}

/// SC-07: what the server asks there before it is open would be lost, and with it the call. SC-08.
#[test]
fn calls_wait_for_the_servers_own_stream() {
    check(
        |site| async move {
            let builder = site
                .client(LATEST)
                .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) });
            let client = site.join(builder).await.unwrap();
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            let get = site.open_listening(LATEST[0]).await;
            sleep(Duration::from_millis(900)).await;
            site.quiet();
            let own = get.stream();
            let call = site.expect("tools/call").await;
            own.event(r#""q" elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}"#);
            site.expect(r#""id":"q","result""#).await.accept();
            call.result(r#"{"content":[{"type":"text","text":"hi"}]}"#);
            site.expect("DELETE").await.accept();
            drop(own);
        },
    );
}

#[test]
fn calls_do_not_wait_for_a_stream_that_is_not_answered() {
    for how in ["never", "refused", "cut"] {
        check(
            |site| async move {
                let client = site.connect(LATEST).await.unwrap();
                client.call_tool("a", &()).await.unwrap();
                client.close().await.unwrap();
            },
            |site| async move {
                let get = site.open_listening(LATEST[0]).await;
                let at = get.at;
                let waits = match how {
                    "refused" => {
                        get.refuse(405, "");
                        None
                    }
                    "cut" => {
                        get.vanish();
                        None
                    }
                    _ => Some(get),
                };
                let call = site.expect("tools/call").await;
                assert_eq!(call.at - at, if waits.is_some() { 1_000 } else { 0 });
                call.result(r#"{"content":[]}"#);
                site.expect("DELETE").await.accept();
            },
        );
    }
}

/// SC-29: nobody waits for it, so it is never given up; but not asked for often either.
#[test]
fn the_servers_own_stream_outlives_an_outage() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            let mut logs = client.logs();
            logs.next().await.unwrap();
            sleep(Duration::from_secs(3600)).await;
        },
        |site| async move {
            site.open_listening(LATEST[0]).await.stream().end();
            let mut before = 0;
            for attempt in 0..100 {
                let asked = site.expect("GET").await;
                if attempt > 8 {
                    assert!((60_000..=75_000).contains(&(asked.at - before)));
                }
                before = asked.at;
                match attempt % 3 {
                    0 => asked.vanish(),
                    1 => asked.refuse(503, ""),
                    _ => asked.stream().cut(),
                }
            }
            let stream = site.expect("GET").await.stream();
            stream.event(r#"- notifications/message {"level":"info","data":1}"#);
            stream.end();
            let asked = site.expect("GET").await;
            assert!(asked.at - before < 77_000);
            // There is none any more.
            asked.refuse(405, "");
            site.expect("DELETE").await.accept();
        },
    );
}

/// Who may read it is a question of credentials, and those can change.
#[test]
fn the_servers_own_stream_waits_for_other_credentials() {
    for status in [401, 403] {
        check(
            |site| async move {
                let client = site.join(site.client(LATEST).bearer("old")).await.unwrap();
                sleep(Duration::from_secs(3600)).await;
                let error = client.set_bearer("a\nb").unwrap_err();
                assert!(matches!(error, ConnectError::Header(name) if name == "authorization"));
                client.set_bearer("older").unwrap();
                sleep(Duration::from_secs(3600)).await;
                client.set_bearer("new").unwrap();
                let mut logs = client.logs();
                logs.next().await.unwrap();
                client.close().await.unwrap();
            },
            |site| async move {
                let stream = site.open_listening(LATEST[0]).await.stream();
                stream.send("id: e-1\ndata:\n\n");
                stream.end();
                let mut before = 0;
                for (token, waited) in [("old", 0), ("older", 3_590)] {
                    let asked = site.expect("GET").await;
                    assert_eq!(asked.field("authorization"), format!("Bearer {token}"));
                    assert!(asked.at - before >= waited * 1_000, "{}", asked.at);
                    before = asked.at;
                    asked.refuse(status, "");
                }
                let asked = site.expect("GET").await;
                assert_eq!(asked.at - before, 3_600_000);
                assert_eq!(asked.field("authorization"), "Bearer new");
                assert_eq!(asked.field("last-event-id"), "e-1");
                let stream = asked.stream();
                stream.event(r#"- notifications/message {"level":"info","data":1}"#);
                let asked = site.expect("DELETE").await;
                assert_eq!(asked.field("authorization"), "Bearer new");
                asked.accept();
            },
        );
    }
}

/// RFC 9110, 10.2.3
#[test]
fn a_server_says_when_its_stream_is_to_be_asked_for_again() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            sleep(Duration::from_secs(10_000)).await;
            client.close().await.unwrap();
        },
        |site| async move {
            let mut get = site.open_listening(LATEST[0]).await;
            let date = ("date", "Sun, 06 Nov 2094 08:49:37 GMT");
            for (fields, seconds) in [
                (&[("retry-after", "100")][..], 100),
                (&[("retry-after", "soon")], 2),
                (
                    &[date, ("retry-after", "Sun, 06 Nov 2094 08:59:37 GMT")],
                    600,
                ),
                (&[("retry-after", "999999999")], 3_600),
            ] {
                let before = get.at;
                get.refuse_with(503, fields);
                get = site.expect("GET").await;
                let waited = get.at - before;
                assert!(
                    waited >= seconds * 1_000 && waited <= seconds * 1_250,
                    "{waited}"
                );
            }
            get.refuse(405, "");
            site.expect("DELETE").await.accept();
        },
    );
}

#[test]
fn a_server_says_when_a_call_is_to_be_resumed() {
    check_in(
        LATEST[0],
        |client| async move {
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            client.close().await.unwrap();
        },
        |site| async move {
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.send("id: e-0\nretry: 500\ndata:\n\n");
            stream.end();
            let asked = site.expect("GET").await;
            let before = asked.at;
            asked.refuse_with(429, &[("retry-after", "20")]);
            let asked = site.expect("GET").await;
            assert!((20_000..=25_000).contains(&(asked.at - before)));
            assert_eq!(asked.field("last-event-id"), "e-0");
            asked.stream().event(&said(&id, "hi"));
            site.expect("DELETE").await.accept();
        },
    );
}

/// SC-30, SSE-10: an answer over the limit ends its call at once, wherever it comes.
#[test]
fn an_answer_over_the_limit_in_another_stream() {
    for late in [false, true] {
        check(
            |site| async move {
                let client = site
                    .join(site.client(LATEST).limits(short()))
                    .await
                    .unwrap();
                let before = mcp_async::runtime::Runtime::now(&crate::sim::Sim);
                let error = client.call_tool("a", &()).await.unwrap_err();
                let failure = Failure::Invalid(mcp_proto::rpc::Reason::TooLong);
                assert!(matches!(error, CallError::Failed(it) if it == failure));
                assert_eq!(error.to_string(), "the answer exceeds the size limit");
                assert_eq!(mcp_async::runtime::Runtime::now(&crate::sim::Sim), before);
                client.call_tool("a", &()).await.unwrap();
            },
            |site| async move {
                let own = site.open_listening(LATEST[0]).await.stream();
                let call = site.expect("tools/call").await;
                let id = call.id().to_owned();
                let stream = call.stream();
                stream.send("id: e\nretry: 5000\ndata:\n\n");
                stream.end();
                // What nobody can tell the owner of, and what is no answer, is for nobody.
                own.event(&format!("[{}]", "1,".repeat(1_500)));
                own.event(&long(&format!(r#""id":{id},"method":"x""#), "params"));
                own.event(&long(r#""id":4711"#, "result"));
                match late {
                    true => own.event(&format!(r#"{},"id":{id}}}"#, open(r#""x":1"#, "result"))),
                    // The end of it need not come.
                    false => {
                        let open = open(&format!(r#""id":{id}"#), "result");
                        own.send(&format!("data: {open}{}", " ".repeat(8_000)));
                    }
                }
                // The call's own stream is not asked for any more.
                site.expect("tools/call").await.result(r#"{"content":[]}"#);
                assert!(!own.is_dropped());
                site.expect("DELETE").await.accept();
                sleep(Duration::from_secs(10)).await;
                site.quiet();
            },
        );
    }
}

/// SC-30
#[test]
fn the_stream_of_a_call_that_was_answered_in_another_one_ends() {
    check(
        |site| async move {
            let client = site.connect(LATEST).await.unwrap();
            for _ in 0..2 {
                assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            }
            sleep(Duration::from_secs(9)).await;
        },
        |site| async move {
            let own = site.open_listening(LATEST[0]).await.stream();
            let call = site.expect("tools/call").await;
            let id = call.id().to_owned();
            let stream = call.stream();
            sleep(Duration::from_secs(9)).await;
            assert!(!stream.is_dropped());
            own.event(&said(&id, "hi"));
            let call = site.expect("tools/call").await;
            own.event(&said(call.id(), "hi"));
            sleep(Duration::from_secs(3)).await;
            assert!(stream.is_dropped());
            assert!(call.is_dropped());
            assert!(!own.is_dropped());
            site.expect("DELETE").await.accept();
        },
    );
}

#[test]
fn a_question_over_the_limit_ends_no_call() {
    check(
        |site| async move {
            let client = site
                .join(site.client(LATEST).limits(short()))
                .await
                .unwrap();
            assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
        },
        |site| async move {
            site.open(LATEST[0]).await;
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.event(&long(
                r#""id":"q","method":"sampling/createMessage""#,
                "params",
            ));
            stream.event(&long(r#""method":"notifications/message""#, "params"));
            stream.event(&said(&id, "hi"));
            sleep(Duration::from_secs(1)).await;
        },
    );
}

fn short() -> mcp_proto::Limits {
    mcp_proto::Limits {
        message: 2_000,
        ..mcp_proto::Limits::default()
    }
}

/// A message over the limit.
fn long(members: &str, payload: &str) -> String {
    open(members, payload) + "}"
}

fn open(members: &str, payload: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0",{members},"{payload}":{{"x":"{}"}}"#,
        "x".repeat(2_000)
    )
}
