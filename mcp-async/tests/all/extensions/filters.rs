//! Keys of the filter of subscriptions that an extension judges.

use core::future::pending;
use core::pin::pin;
use core::task::Poll;
use std::sync::{Arc, Mutex};

use mcp_async::server::{BoxService, Extension, HandlerError, Subscriber, connect, service_fn};
use mcp_async::{ErrorReply, Server};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Revision, SendError};
use serde::de::IgnoredAny;

use crate::scripted::{LineClient, member};
use crate::sim::{Sim, poll_once};
use crate::texts::{INTERNAL_ERROR, has};

type State = Arc<Heard>;

/// The subscriptions that were judged.
#[derive(Default)]
struct Heard(Mutex<Vec<Subscriber<State>>>);

#[derive(serde::Serialize)]
struct Number {
    n: i32,
}

const METHOD: &str = "notifications/numbers";

/// Accepts even numbers, refuses those below zero, panics at 13 and waits at 100.
async fn judge(number: i32, subscriber: Subscriber<State>) -> Result<Option<i32>, HandlerError> {
    let early = subscriber.notify(METHOD, &Number { n: 0 }).await;
    assert_eq!(early, Err(SendError::NotReady), "it is not acknowledged");
    subscriber
        .state()
        .0
        .lock()
        .unwrap()
        .push(subscriber.clone());
    match number {
        ..0 => Err(HandlerError::visible("too small")),
        13 => panic!("as intended"),
        100 => pending().await,
        _ => Ok((number % 2 == 0).then_some(number)),
    }
}

fn numbers() -> Extension<State> {
    Extension::new("com.example/numbers")
        .sends(METHOD)
        .filter("number", judge)
        .filter("always", |_: IgnoredAny, _: Subscriber<State>| async {
            Ok(Some(true))
        })
}

/// A client of 2026-07-28 that declares these capabilities.
fn wire(extension: Extension<State>, declared: &str) -> (LineClient, State) {
    let heard = State::default();
    let server = Server::builder("demo", "1")
        .with_state(Arc::clone(&heard))
        .change_notifications()
        .tool("echo", "", |_: IgnoredJson, _| async { Ok("") })
        .extension(extension);
    let wire = LineClient::declaring(&server, Revision::V2026_07_28, declared);
    (wire, heard)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct IgnoredJson {}

impl Heard {
    fn take(&self) -> Subscriber<State> {
        self.0.lock().unwrap().pop().expect("a subscription")
    }
}

/// Sends a subscription with this filter; its id.
fn listen(wire: &mut LineClient, filter: &str) -> u64 {
    let params = format!(r#"{{"notifications":{filter}}}"#);
    wire.send("subscriptions/listen", &params)
}

/// What the acknowledgement of a new subscription accepts.
fn accepted(wire: &mut LineClient, filter: &str) -> String {
    listen(wire, filter);
    let [line] = &wire.hear()[..] else {
        panic!("no acknowledgement of {filter}")
    };
    assert!(line.contains("notifications/subscriptions/acknowledged"));
    member(line, &["params", "notifications"])
}

/// EX-13, SB-02, SB-14.
#[test]
fn a_judge_accepts_narrows_or_leaves_out() {
    let (mut wire, _heard) = wire(numbers(), "{}");
    for (filter, expected) in [
        (r#"{"number":2}"#, r#"{"number":2}"#),
        (r#"{"number":3}"#, "{}"),
        (r#"{"number":3,"always":0}"#, r#"{"always":true}"#),
        (
            r#"{"toolsListChanged":true,"always":0,"number":4,"unknown":{}}"#,
            r#"{"toolsListChanged":true,"number":4,"always":true}"#,
        ),
        (r#"{"unknown":{}}"#, "{}"),
    ] {
        assert_eq!(accepted(&mut wire, filter), expected);
    }
}

/// EX-13: judged before anything of the subscription is written.
#[test]
fn a_judge_refuses_the_whole_subscription() {
    let (mut wire, heard) = wire(numbers(), "{}");
    for (filter, code, text) in [
        (r#"{"always":1,"number":-1}"#, -32603, "too small"),
        (
            r#"{"number":"x","always":1}"#,
            -32602,
            "notifications.number",
        ),
        (r#"{"number":13}"#, -32603, INTERNAL_ERROR),
    ] {
        let params = format!(r#"{{"notifications":{filter}}}"#);
        let error = wire.error("subscriptions/listen", &params);
        assert_eq!(error.0, code, "{filter}");
        assert!(error.1.contains(text), "{}", error.1);
        assert_eq!(wire.hear(), [""; 0]);
    }
    assert!(heard.take().is_closed());
}

/// A judge that waits holds up nothing else, and its subscription can be cancelled.
#[test]
fn other_calls_are_answered_while_a_judge_waits() {
    let (mut wire, heard) = wire(numbers(), "{}");
    let id = listen(&mut wire, r#"{"number":100}"#);
    wire.result("tools/call", r#"{"name":"echo"}"#);
    assert_eq!(accepted(&mut wire, r#"{"number":2}"#), r#"{"number":2}"#);
    let (open, waits) = (heard.take(), heard.take());
    assert!(!waits.is_closed());
    wire.cancel(id);
    assert!(waits.is_closed() && !open.is_closed());
    assert_eq!(wire.hear(), [""; 0]);
}

/// EX-14, SB-03.
#[test]
fn a_handle_reaches_its_subscription_until_that_ends() {
    let (mut wire, heard) = wire(numbers(), "{}");
    let id = listen(&mut wire, r#"{"number":2}"#);
    let subscriber = heard.take();
    wire.hear();
    assert_eq!(
        poll_once(pin!(subscriber.notify(METHOD, &Number { n: 1 }))),
        Poll::Ready(Ok(()))
    );
    let source = subscriber.clone();
    subscriber.run(async move {
        let sent = source.notify(METHOD, &Number { n: 2 }).await;
        assert_eq!(sent, Ok(()));
        pending::<()>().await;
    });
    let named = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let params = |line: &String| member(line, &["params"]);
    let expected = [1, 2].map(|n| format!(r#"{{"n":{n},{named}}}"#));
    assert_eq!(wire.hear().iter().map(params).collect::<Vec<_>>(), expected);
    for (method, params) in [
        (METHOD, &7 as &(dyn mcp_proto::Payload + Sync)),
        ("other", &()),
    ] {
        let sent = poll_once(pin!(subscriber.notify(method, params)));
        assert!(matches!(sent, Poll::Ready(Err(_))), "{method}");
    }
    assert_eq!(poll_once(pin!(subscriber.closed())), Poll::Pending);

    wire.cancel(id);
    assert_eq!(poll_once(pin!(subscriber.closed())), Poll::Ready(()));
    let late = poll_once(pin!(subscriber.notify(METHOD, &Number { n: 3 })));
    assert_eq!(late, Poll::Ready(Err(SendError::Stale)));
    subscriber.run(async { panic!("it is dropped") });
    wire.settle();
    // Its sources refer to it, and were dropped.
    drop(subscriber);
    assert_eq!(Arc::strong_count(&heard), 2, "the test's and the server's");
}

/// SB-08.
#[test]
fn the_server_ends_a_subscription() {
    let (mut wire, heard) = wire(numbers(), "{}");
    let id = listen(&mut wire, r#"{"number":2}"#);
    wire.hear();
    let subscriber = heard.take();
    subscriber.end();
    assert_eq!(poll_once(pin!(subscriber.closed())), Poll::Ready(()));
    let answer = wire.answer(id).unwrap();
    assert!(answer.contains(r#""resultType":"complete""#), "{answer}");

    let id = listen(&mut wire, r#"{"number":2}"#);
    wire.hear();
    wire.peer.shutdown();
    has(&wire.answer(id).unwrap(), [r#""resultType":"complete""#]);
    assert!(wire.has_ended(), "it waits for no subscription");
    assert!(heard.take().is_closed());
}

/// Without judges nothing is accepted, and nothing waits.
#[test]
fn a_service_may_judge_nothing() {
    let begin = |(reader, writer)| {
        let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
        let config = ServerConfig {
            filters: &["number"],
            ..ServerConfig::new("demo", "1")
        };
        let service = Box::new(service) as BoxService;
        connect((reader, writer), Sim, config, service)
    };
    let mut wire = LineClient::of(begin, Revision::V2026_07_28, "{}");
    assert_eq!(accepted(&mut wire, r#"{"number":2}"#), "{}");
}

/// EX-06, EX-13.
#[test]
fn a_key_may_need_the_extension_of_the_client() {
    let filter = r#"{"notifications":{"number":2}}"#;
    let (mut without, heard) = wire(numbers().requires_client(), "{}");
    let answer = without.ask("subscriptions/listen", filter);
    assert_eq!(member(&answer, &["error", "code"]), "-32021");
    let required = ["error", "data", "requiredCapabilities", "extensions"];
    assert_eq!(member(&answer, &required), r#"{"com.example/numbers":{}}"#);
    assert!(heard.0.lock().unwrap().is_empty(), "nothing was judged");

    let declared = r#"{"extensions":{"com.example/numbers":{"max":9}}}"#;
    let (mut with, heard) = wire(numbers().requires_client(), declared);
    assert_eq!(accepted(&mut with, r#"{"number":2}"#), r#"{"number":2}"#);
    let settings = heard.take().client_extension("com.example/numbers");
    assert_eq!(settings.unwrap().as_raw().as_str(), r#"{"max":9}"#);
}
