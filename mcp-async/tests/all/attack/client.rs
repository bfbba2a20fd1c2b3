//! A hostile server, and the typed client that it speaks to.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use mcp_async::Streams;

use mcp_async::Client;
use mcp_async::client::{CallError, Update};
use mcp_async::model::ElicitResult;
use mcp_async::runtime::duplex;
use mcp_proto::{Revision, RevisionSet};

use crate::line_peer::LinePeer;
use crate::sim::{Sim, advance, settle};

type Local<'f, T> = Pin<Box<dyn Future<Output = T> + 'f>>;

/// Polls the future after everything else has happened.
fn now<T>(future: &mut Local<'_, T>) -> Poll<T> {
    for _ in 0..8 {
        settle();
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            return polled;
        }
    }
    Poll::Pending
}

const DISCOVERED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":"#,
    r#"["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"#,
    r#""resources":{"subscribe":true,"listChanged":true}},"serverInfo":"#,
    r#"{"name":"hostile","version":"0"},"ttlMs":0,"cacheScope":"public"}}"#,
    "\n"
);

fn connect() -> (Client, LinePeer) {
    let (ours, theirs) = duplex(1 << 20);
    let mut hand = LinePeer::new(theirs.split());
    let client = Client::builder("victim", "0")
        .revisions(RevisionSet::of(&[Revision::V2026_07_28]))
        .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
        .connect(Streams::new(Sim, ours.split()));
    let mut client: Local<'_, _> = Box::pin(client);
    assert!(now(&mut client).is_pending());
    hand.write(DISCOVERED.as_bytes());
    let Poll::Ready(client) = now(&mut client) else {
        panic!("it connects");
    };
    (client.unwrap(), hand)
}

/// Returns the result of a call that is answered with this; `None` if the call still waits.
fn answered<T>(
    call: impl Future<Output = Result<T, CallError>>,
    hand: &mut LinePeer,
    id: u32,
    result: &str,
) -> Option<Result<T, CallError>> {
    let mut call: Local<'_, _> = Box::pin(call);
    assert!(now(&mut call).is_pending());
    hand.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").as_bytes());
    match now(&mut call) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

#[test]
fn results_of_the_wrong_shape() {
    let (client, mut hand) = connect();
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
        let answer = answered(client.tools().all(), &mut hand, id, result);
        assert!(matches!(answer, Some(Err(_))), "{result}: {answer:?}");
    }
}

#[test]
fn questions_of_the_wrong_shape_end_the_call() {
    let (client, mut hand) = connect();
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
        let answer = answered(call, &mut hand, id, &result);
        assert!(
            matches!(answer, Some(Err(_))),
            "{requests:.100}: {answer:?}"
        );
    }
}

#[test]
fn an_acknowledgement_survives_a_storm() {
    let (client, mut hand) = connect();
    let mut listening: Local<'_, _> = Box::pin(client.changes());
    assert!(now(&mut listening).is_pending());
    let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    let mut storm = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"toolsListChanged":true}},{meta}}}}}"#
    ) + "\n";
    let change = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{meta}}}}}"#
    ) + "\n";
    storm.push_str(&change.repeat(5_000));
    hand.write(storm.as_bytes());
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
    let (client, mut hand) = connect();
    let mut logs = client.logs();
    let text = "x".repeat(1 << 20);
    let log = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{text}"}}}}"#
    ) + "\n";
    for _ in 0..40 {
        hand.write(log.as_bytes());
    }
    assert!(logs.dropped() >= 32, "{}", logs.dropped());
    let mut next: Local<'_, _> = Box::pin(logs.next());
    assert!(matches!(now(&mut next), Poll::Ready(Some(_))));
}

#[test]
fn lifetimes_that_no_clock_holds() {
    let (client, mut hand) = connect();
    let mut id = 1;
    for ttl in ["-1", "1e400", "-0", "0.5", "\"9\"", "null", "[]"] {
        id += 1;
        let page =
            format!(r#"{{"resultType":"complete","tools":[],"ttlMs":{ttl},"cacheScope":{ttl}}}"#);
        // Each is asked anew: nothing was kept.
        let answer = answered(client.tools().all(), &mut hand, id, &page);
        assert!(matches!(answer, Some(Ok(_))), "{ttl}: {answer:?}");
    }
    let page = r#"{"resultType":"complete","tools":[],"ttlMs":18446744073709551615,"cacheScope":"private"}"#;
    let longest = answered(client.tools().all(), &mut hand, id + 1, page);
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
    let (client, mut hand) = connect();
    let mut pages: Local<'_, _> = Box::pin(client.tools().limit(50).all());
    let mut id = 1;
    let end = loop {
        match now(&mut pages) {
            Poll::Ready(end) => break end,
            Poll::Pending => id += 1,
        }
        let cursor = if id % 2 == 0 { "a" } else { "b" };
        let page = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","tools":[],"nextCursor":"{cursor}","ttlMs":0,"cacheScope":"public"}}}}"#
        ) + "\n";
        hand.write(page.as_bytes());
        assert!(id < 100);
    };
    assert!(matches!(end, Err(CallError::PaginationLimit)), "{end:?}");
}
