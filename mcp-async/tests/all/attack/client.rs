//! A hostile server, and the typed client that it speaks to.

use core::future::Future;
use core::pin::Pin;
use core::task::Poll;

use mcp_async::Client;
use mcp_async::client::{CallError, Update};
use mcp_async::model::ElicitResult;
use mcp_proto::Revision;

use crate::scripted::{LinePeer, acknowledged, line_server, message, tools_changed};
use crate::sim::{advance, poll_once, settle};

type Local<'f, T> = Pin<Box<dyn Future<Output = T> + 'f>>;

/// Polls the future after everything else has happened.
fn now<T>(future: &mut Local<'_, T>) -> Poll<T> {
    for _ in 0..8 {
        settle();
        let polled = poll_once(future.as_mut());
        if polled.is_ready() {
            return polled;
        }
    }
    Poll::Pending
}

const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true,"listChanged":true}}"#;

fn connect() -> (Client, LinePeer) {
    let builder =
        Client::builder("victim", "0").on_elicitation(|_, _| async { Ok(ElicitResult::agree()) });
    line_server::connect(builder, Revision::V2026_07_28, CAPABILITIES)
}

/// Returns the result of a call that is answered with this; `None` if the call still waits.
fn answered<T>(
    call: impl Future<Output = Result<T, CallError>>,
    lines: &mut LinePeer,
    id: u64,
    result: &str,
) -> Option<Result<T, CallError>> {
    let mut call: Local<'_, _> = Box::pin(call);
    assert!(now(&mut call).is_pending());
    lines.answer(id, result);
    match now(&mut call) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

#[test]
fn results_of_the_wrong_shape() {
    let (client, mut lines) = connect();
    let mut id = 1;
    for result in [
        "7",
        "null",
        "[]",
        r#"{"resultType":7}"#,
        r#"{"resultType":"other"}"#,
        r#"{"resultType":"complete","tools":7}"#,
        r#"{"resultType":"complete","tools":[{"name":7}]}"#,
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","requestState":"s"}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{}}}}}"#,
    ] {
        id += 1;
        let answer = answered(client.tools().all(), &mut lines, id, result);
        assert!(matches!(answer, Some(Err(_))), "{result}: {answer:?}");
    }
}

#[test]
fn questions_of_the_wrong_shape_end_the_call() {
    let (client, mut lines) = connect();
    let many: Vec<_> = (0..10_000)
        .map(|n| format!(r#""k{n}":{{"method":"elicitation/create","params":{{"message":"m","requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#))
        .collect();
    let one = r#""k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#;
    let mut id = 1;
    for requests in [
        "7".to_owned(),
        "[]".to_owned(),
        r#"{"k":7}"#.to_owned(),
        r#"{"k":{}}"#.to_owned(),
        r#"{"k":{"method":7}}"#.to_owned(),
        r#"{"k":{"method":"tools/call","params":{}}}"#.to_owned(),
        r#"{"k":{"method":"sampling/createMessage","params":{}}}"#.to_owned(),
        r#"{"k":{"method":"elicitation/create","params":7}}"#.to_owned(),
        r#"{"k":{"method":"elicitation/create","params":{"message":7}}}"#.to_owned(),
        format!("{{{one},{one}}}"),
        format!("{{{}}}", many.join(",")),
    ] {
        id += 1;
        let result = format!(
            r#"{{"resultType":"input_required","inputRequests":{requests},"requestState":"s"}}"#
        );
        let call = async { client.call_tool("t", &()).await };
        let answer = answered(call, &mut lines, id, &result);
        assert!(
            matches!(answer, Some(Err(_))),
            "{requests:.100}: {answer:?}"
        );
    }
}

#[test]
fn an_acknowledgement_survives_a_storm() {
    let (client, mut lines) = connect();
    let mut listening: Local<'_, _> = Box::pin(client.changes());
    assert!(now(&mut listening).is_pending());
    let mut storm = message(&acknowledged("2")) + "\n";
    let change = message(&tools_changed("2")) + "\n";
    storm.push_str(&change.repeat(5_000));
    lines.write(storm.as_bytes());
    let Poll::Ready(Ok(mut changes)) = now(&mut listening) else {
        panic!("it waits for what was lost");
    };
    assert!(changes.honoured().tools_list_changed);
    assert!(changes.dropped() >= 3_900, "{}", changes.dropped());
    let mut next: Local<'_, _> = Box::pin(changes.next());
    assert_eq!(now(&mut next), Poll::Ready(Some(Update::Tools)));
}

#[test]
fn logs_wait_in_bounded_memory() {
    let (client, mut lines) = connect();
    let mut logs = client.logs();
    let text = "x".repeat(1 << 20);
    let log = format!(r#"- notifications/message {{"level":"info","data":"{text}"}}"#);
    for _ in 0..40 {
        lines.send(&log);
    }
    assert!(logs.dropped() >= 32, "{}", logs.dropped());
    let mut next: Local<'_, _> = Box::pin(logs.next());
    assert!(matches!(now(&mut next), Poll::Ready(Some(_))));
}

#[test]
fn lifetimes_that_no_clock_holds() {
    let (client, mut lines) = connect();
    let mut id = 1;
    for ttl in ["-1", "1e400", "-0", "0.5", "\"9\"", "null", "[]"] {
        id += 1;
        let page =
            format!(r#"{{"resultType":"complete","tools":[],"ttlMs":{ttl},"cacheScope":{ttl}}}"#);
        // Each is asked anew: nothing was kept.
        let answer = answered(client.tools().all(), &mut lines, id, &page);
        assert!(matches!(answer, Some(Ok(_))), "{ttl}: {answer:?}");
    }
    let page = r#"{"resultType":"complete","tools":[],"ttlMs":18446744073709551615,"cacheScope":"private"}"#;
    let longest = answered(client.tools().all(), &mut lines, id + 1, page);
    assert!(matches!(longest, Some(Ok(_))), "{longest:?}");
    let mut kept: Local<'_, _> = Box::pin(client.tools().all());
    assert!(now(&mut kept).is_ready());
    drop(kept);
    advance(core::time::Duration::from_secs(24 * 60 * 60));
    let mut stale: Local<'_, _> = Box::pin(client.tools().all());
    assert!(now(&mut stale).is_pending(), "a day is the longest");
}

#[test]
fn pages_without_end() {
    let (client, mut lines) = connect();
    let mut pages: Local<'_, _> = Box::pin(client.tools().limit(50).all());
    let mut id = 1;
    let end = loop {
        match now(&mut pages) {
            Poll::Ready(end) => break end,
            Poll::Pending => id += 1,
        }
        let cursor = if id % 2 == 0 { "a" } else { "b" };
        let page = format!(
            r#"{{"resultType":"complete","tools":[],"nextCursor":"{cursor}","ttlMs":0,"cacheScope":"public"}}"#
        );
        lines.answer(id, &page);
        assert!(id < 100);
    };
    assert!(matches!(end, Err(CallError::PaginationLimit)), "{end:?}");
}
