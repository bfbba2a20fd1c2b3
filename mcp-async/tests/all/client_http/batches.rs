//! Arrays of calls over HTTP, in 2025-03-26.

use core::future::Future;
use core::time::Duration;

use mcp_async::Client;
use mcp_async::client::CallError;
use mcp_async::model::CallToolResult;
use mcp_proto::Revision;

use crate::scripted::http_server::{Asked, HttpServer, check, check_in};
use crate::scripted::{array, said};
use crate::settings::limits;
use crate::sim::{begin, sleep};

const BATCHES: &[Revision] = &[Revision::V2025_03_26];

/// The results of three calls that leave together.
async fn three(client: &Client) -> Vec<String> {
    let calls = ["a", "b", "c"].map(|tool| client.call_tool(tool, &()));
    client.batch(calls).await.iter().map(shown).collect()
}

fn shown(result: &Result<CallToolResult, CallError>) -> String {
    match result {
        Ok(result) => result.text(),
        Err(CallError::Server(error)) => format!("{} {}", error.code, error.message),
        Err(CallError::Failed(failure)) => format!("{failure:?}"),
        Err(error) => format!("{error:?}"),
    }
}

/// The next request, an array of calls, with their ids.
async fn asked_array(site: &HttpServer) -> (Asked, Vec<String>) {
    let asked = site.expect("tools/call").await;
    assert!(asked.body.starts_with('['), "{}", asked.body);
    assert_eq!(asked.field("mcp-session-id"), "s-1");
    let ids = asked.body.split("\"id\":").skip(1);
    let ids = ids.map(|rest| rest[..rest.find(',').unwrap()].to_owned());
    let ids = ids.collect();
    (asked, ids)
}

/// Sends one array of three calls, which the server answers, and compares the results.
fn check_three<F: Future<Output = ()>>(
    results: [&'static str; 3],
    answer: impl FnOnce(HttpServer, Asked, Vec<String>) -> F,
) {
    check_in(
        BATCHES[0],
        |client| async move {
            assert_eq!(three(&client).await, results);
            client.close().await.unwrap();
        },
        |site| async move {
            let (asked, ids) = asked_array(&site).await;
            assert_eq!(ids.len(), 3);
            answer(site.clone(), asked, ids).await;
            site.expect("DELETE").await.accept();
        },
    );
}

/// JR-15, JR-18.
#[test]
fn an_array_is_answered_by_an_array_in_any_order() {
    check_three(["A", "B", "C"], |_, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let answers = [said(c, "C"), said(a, "A"), said(b, "B")];
        asked.json(200, "", &array(&answers));
    });
}

#[test]
fn an_array_is_answered_on_a_stream_by_single_messages_and_arrays() {
    check_three(["A", "B", "C"], |_, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let stream = asked.stream();
        stream.event(&said(b, "B"));
        sleep(Duration::from_secs(5)).await;
        stream.event(&array(&[said(a, "A"), said(c, "C")]));
    });
}

#[test]
fn a_call_whose_answer_is_not_in_the_array_fails_alone() {
    check_three(["A", "NoAnswer", "C"], |_, asked, ids| async move {
        let [a, _, c] = &ids[..] else { unreachable!() };
        asked.json(200, "", &array(&[said(a, "A"), said(c, "C")]));
    });
}

#[test]
fn an_array_that_is_refused_fails_in_all_its_calls() {
    let error = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no arrays"}}}}"#)
    };
    check_three(["-32600 no arrays"; 3], |_, asked, _| async move {
        asked.json(400, "", &error("null"));
    });
    check_three(["-32600 no arrays"; 3], |_, asked, _| async move {
        asked.json(200, "", &error("null"));
    });
    check_three(["Status(500)"; 3], |_, asked, _| async move {
        asked.refuse(500, "");
    });
    check_three(["NoAnswer"; 3], |_, asked, _| async move {
        asked.accept();
    });
}

/// SC-21: the rest of the answers comes on another stream.
#[test]
fn a_stream_that_breaks_between_two_answers_is_resumed() {
    check_three(["A", "B", "C"], |site, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let stream = asked.stream();
        stream.event_with_id("1", &said(a, "A"));
        stream.end();
        let resumed = site.expect("GET").await;
        assert_eq!(resumed.field("last-event-id"), "1");
        let stream = resumed.stream();
        stream.event(&said(b, "B"));
        stream.event(&said(c, "C"));
    });
}

#[test]
fn a_stream_that_cannot_be_resumed_fails_in_the_calls_without_an_answer() {
    check_three(["A", "Broken", "Broken"], |site, asked, ids| async move {
        let stream = asked.stream();
        stream.event(&said(&ids[0], "A"));
        stream.end();
        // What may still run is cancelled (SC-14).
        for _ in 0..2 {
            site.expect("notifications/cancelled").await.accept();
        }
    });
}

/// An answer over the limit ends its own call.
#[test]
fn a_call_of_an_array_whose_answer_is_too_long_fails_alone() {
    let results = ["A", "Invalid(TooLong)", "C"];
    check(
        |site| async move {
            let limits = limits(|it| it.message = 4096);
            let client = site.join(site.client(BATCHES).limits(limits));
            let client = client.await.unwrap();
            assert_eq!(three(&client).await, results);
            client.close().await.unwrap();
        },
        |site| async move {
            site.open(Revision::V2025_03_26).await;
            let (asked, ids) = asked_array(&site).await;
            let [a, b, c] = &ids[..] else { unreachable!() };
            let stream = asked.stream();
            stream.event(&said(b, &"b".repeat(5000)));
            stream.event(&said(a, "A"));
            stream.event(&said(c, "C"));
            site.expect("DELETE").await.accept();
        },
    );
}

/// CN-07
#[test]
fn calls_of_an_array_are_cancelled_one_by_one_and_the_last_ends_the_exchange() {
    check_in(
        BATCHES[0],
        |client| async move {
            let slow = ["a", "b"].map(|tool| {
                let call = client.call_tool(tool, &());
                call.timeout(Duration::from_secs(if tool == "a" { 2 } else { 4 }))
            });
            let results = client.batch(slow).await;
            assert!(matches!(
                &results[..],
                [Err(CallError::Timeout), Err(CallError::Timeout)]
            ));
            client.close().await.unwrap();
        },
        |site| async move {
            let (asked, ids) = asked_array(&site).await;
            let stream = asked.stream();
            for (at, id) in ids.iter().enumerate() {
                let cancelled = site.expect("notifications/cancelled").await;
                assert!(cancelled.body.contains(&format!(r#""requestId":{id}"#)));
                assert_eq!(stream.is_dropped(), at == 1);
                cancelled.accept();
            }
            site.expect("DELETE").await.accept();
        },
    );
}

#[test]
fn dropping_a_batch_cancels_its_calls_and_ends_the_exchange() {
    check_in(
        BATCHES[0],
        |client| async move {
            let calls = ["a", "b"].map(|tool| client.call_tool(tool, &()));
            let batch = begin(client.batch(calls));
            sleep(Duration::from_secs(3)).await;
            drop(batch);
            sleep(Duration::from_secs(3)).await;
            client.close().await.unwrap();
        },
        |site| async move {
            let (asked, _) = asked_array(&site).await;
            let stream = asked.stream();
            for _ in 0..2 {
                site.expect("notifications/cancelled").await.accept();
            }
            assert!(stream.is_dropped());
            site.expect("DELETE").await.accept();
        },
    );
}

/// SC-10: calls whose session is gone are sent again in the next one, where each is a message of its own.
#[test]
fn calls_of_an_array_that_met_a_lost_session_are_sent_again() {
    check_in(
        BATCHES[0],
        |client| async move {
            assert_eq!(three(&client).await, ["A", "B", "C"]);
            client.close().await.unwrap();
        },
        |site| async move {
            asked_array(&site).await.0.refuse(404, "");
            let opened = site.expect("\"initialize\"").await;
            opened.session(Revision::V2025_03_26);
            site.expect("notifications/initialized").await.accept();
            site.expect("GET").await.refuse(405, "");
            for text in ["A", "B", "C"] {
                let asked = site.expect("tools/call").await;
                let answer = said(asked.id(), text);
                asked.json(200, "", &answer);
            }
            site.expect("DELETE").await.accept();
        },
    );
}

/// SC-10: it is not known how far the server got with the calls that it has begun to answer.
#[test]
fn a_session_that_is_lost_between_two_answers_ends_the_other_calls() {
    check_three(["A", "Broken", "Broken"], |site, asked, ids| async move {
        let stream = asked.stream();
        stream.event_with_id("1", &said(&ids[0], "A"));
        stream.end();
        site.expect("GET").await.refuse(404, "");
        let asked = site.expect("\"initialize\"").await;
        asked.session(Revision::V2025_03_26);
        site.expect("notifications/initialized").await.accept();
    });
}

/// JR-33
#[test]
fn what_stands_between_the_answers_of_an_array_is_taken_for_what_it_is() {
    check_three(["A", "B", "C"], |site, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let question = r#""q" ping"#.to_owned();
        let answers = [
            question,
            said(a, "A"),
            said(a, "A again"),
            said("99", "another's"),
            r#"{"jsonrpc":"2.0","id":99,"error":7}"#.to_owned(),
            said(b, "B"),
            "7".to_owned(),
            said(c, "C"),
        ];
        asked.json(200, "", &array(&answers));
        let answer = site.expect("result").await;
        assert!(answer.body.contains(r#""id":"q""#), "{}", answer.body);
        answer.accept();
    });
}

/// A request that is broken has an id of the server's, which may be that of a call.
#[test]
fn a_broken_request_with_the_id_of_a_call_is_not_its_answer() {
    let broken = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":5}}"#);
    check_three(["NoAnswer", "B", "C"], |_, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let answers = [broken(a), said(b, "B"), said(c, "C")];
        asked.json(200, "", &array(&answers));
    });
    check_three(["A", "B", "C"], |_, asked, ids| async move {
        let [a, b, c] = &ids[..] else { unreachable!() };
        let stream = asked.stream();
        stream.event(&array(&[said(b, "B"), said(c, "C")]));
        stream.event(&broken(a));
        sleep(Duration::from_secs(5)).await;
        stream.event(&said(a, "A"));
    });
}

/// Answers may come in the stream of the session: the exchange of the array then ends without any.
#[test]
fn answers_that_come_in_the_stream_of_the_session_count() {
    check(
        |site| async move {
            let client = site.connect(BATCHES).await.unwrap();
            assert_eq!(three(&client).await, ["A", "B", "C"]);
            client.close().await.unwrap();
        },
        |site| async move {
            let opened = site.expect("\"initialize\"").await;
            opened.session(Revision::V2025_03_26);
            site.expect("notifications/initialized").await.accept();
            let session = site.expect("GET").await.stream();
            let (asked, ids) = asked_array(&site).await;
            let [a, b, c] = &ids[..] else { unreachable!() };
            session.event(&array(&[said(a, "A"), said(c, "C")]));
            sleep(Duration::from_secs(1)).await;
            let stream = asked.stream();
            stream.event(&said(b, "B"));
            stream.end();
            site.expect("DELETE").await.accept();
        },
    );
}

/// The stream of an array whose other calls have their answers has nothing more to say.
#[test]
fn cancelling_the_last_call_of_an_array_that_is_awaited_ends_the_exchange() {
    check_in(
        BATCHES[0],
        |client| async move {
            let calls = ["a", "b"].map(|tool| {
                let call = client.call_tool(tool, &());
                call.timeout(Duration::from_secs(3))
            });
            let results: Vec<_> = client.batch(calls).await.iter().map(shown).collect();
            assert_eq!(results, ["A", "Timeout"]);
            client.close().await.unwrap();
        },
        |site| async move {
            let (asked, ids) = asked_array(&site).await;
            let stream = asked.stream();
            stream.event(&said(&ids[0], "A"));
            site.expect("notifications/cancelled").await.accept();
            assert!(stream.is_dropped());
            site.expect("DELETE").await.accept();
        },
    );
}

/// JR-19: no call waits for an element of an array that the revision does not have.
#[test]
fn an_array_where_there_are_none_ends_the_calls_that_it_names() {
    for answer in [
        r#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#,
        r#"[{"jsonrpc":"2.0","id":ID}]"#,
        r#"[{"jsonrpc":"2.0","id":ID,"method":5}]"#,
        r#"{"jsonrpc":"2.0","id":ID,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
    ] {
        check_in(
            Revision::V2025_06_18,
            |client| async move {
                let result = client.call_tool("a", &()).await;
                assert!(matches!(result, Err(CallError::Failed(_))), "{result:?}");
                client.close().await.unwrap();
            },
            |site| async move {
                let asked = site.expect("tools/call").await;
                let answer = answer.replace("ID", asked.id());
                asked.json(200, "", &answer);
                site.expect("DELETE").await.accept();
            },
        );
    }
}
