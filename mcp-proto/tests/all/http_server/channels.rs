//! Where messages go, and where exchanges end: SH-10 to SH-23, SH-47. The first POST of a test
//! is the third of its session, behind those that opened it.

use mcp_proto::http::{Endpoint, Opening};
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::ListKind;
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Action, Channel, Instant, Limits, Machine, PingPolicy, SendError, Source};

use crate::http_server::site::*;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const HEAD: [&str; 1] = ["mcp-session-id: s0"];
const V5: &str = "mcp-protocol-version: 2026-07-28";

/// A session whose client has roots, with a call of `wait` in flight on channel 3.
#[track_caller]
fn waiting(config: ServerConfig<'static>, version: &str) -> Site {
    let mut site = Site::open(config, version, r#"{"roots":{}}"#);
    let params = r#""name":"wait","_meta":{"progressToken":"p"}"#;
    site.check(&HEAD, &request("5", "tools/call", params), "open");
    site.session(0)
        .sees(&["request 0 tools/call wait"])
        .says(&[]);
    site
}

/// SH-15, SH-23, SH-59, PG-03.
#[test]
fn what_is_said_for_a_request_goes_where_it_came_from() {
    for version in LEGACY {
        let site = &mut waiting(config(), version);
        let talk = site.session(0);
        talk.progress(0, 1.0).log(Some(0)).progress(0, 2.0);
        talk.ask(Some(0)).unwrap();
        talk.says(&[
            "3: notifications/progress",
            "3: notifications/message",
            "3: notifications/progress",
            "3: roots/list",
        ]);
        site.check(&HEAD, &response("1"), "202");
        let talk = site.session(0);
        talk.sees(&[r#"answer 1 0 {"roots":[]}"#]);
        talk.answer(0, "{}").says(&["3: result."]);
    }
}

/// SH-21, SH-23, SH-59.
#[test]
fn what_concerns_nobody_goes_to_the_stream_of_the_session() {
    for version in LEGACY {
        let config = ServerConfig {
            ping: Some(PingPolicy::default()),
            ..config()
        };
        let site = &mut waiting(config, version);
        let subscribe = request("6", "resources/subscribe", r#""uri":"file:///a""#);
        site.check(&HEAD, &subscribe, "200 result");
        let talk = site.session(0);
        talk.sent.clear();
        talk.server.list_changed(ListKind::Tools);
        talk.server.resource_updated("file:///a");
        talk.drain().log(None).ask(None).unwrap();
        let due = talk.server.poll_timeout().unwrap();
        talk.wait(due.as_millis()).says(&[
            "0: notifications/tools/list_changed",
            "0: notifications/resources/updated",
            "0: notifications/message",
            "0: roots/list",
            "0: ping",
        ]);
    }
}

/// SH-10, SH-14.
#[test]
fn each_request_ends_its_own_exchange() {
    let site = &mut waiting(config(), "2025-11-25");
    site.check(&HEAD, &call("6", "wait"), "open")
        .check(&HEAD, &call("7", "x"), "200 result")
        .check(&HEAD, &request("8", "ping", ""), "200 result");
    let talk = site.session(0);
    talk.sent.clear();
    talk.answer(1, "{}").says(&["4: result."]);
    talk.fail(0, -32603).says(&["3: -32603."]);
}

/// CN-04, SH-14.
#[test]
fn a_cancelled_request_ends_its_exchange_without_an_answer() {
    let cancelled = notification("notifications/cancelled", r#""requestId":5"#);
    for version in LEGACY {
        let site = &mut waiting(config(), version);
        site.check(&HEAD, &cancelled, "202");
        site.session(0).says(&["3: ."]).sees(&["cancelled 0"]);
        site.check(&HEAD, &cancelled, "202");
        // The id may be used again, and the token may not.
        site.check(&HEAD, &call("5", "wait"), "open");
        let token = site.session(0).token(0);
        assert!(!site.session(0).server.is_live(token));
        site.session(0).answer(1, "{}").says(&["6: result."]);
    }
    // Who cancels by the alias waits for one answer.
    let site = &mut waiting(config(), "2025-11-25");
    site.check(&HEAD, &notification("$/cancelRequest", r#""id":5"#), "202");
    site.session(0).says(&["3: -32800."]).sees(&["cancelled 0"]);
}

#[test]
fn cancellations_of_questions_come_before_the_end() {
    // The answer first, because somebody waits for it.
    let site = &mut waiting(config(), "2025-11-25");
    let talk = site.session(0);
    talk.ask(Some(0)).unwrap();
    talk.ask(Some(0)).unwrap();
    talk.answer(0, "{}").says(&[
        "3: roots/list",
        "3: roots/list",
        "3: result",
        "3: notifications/cancelled",
        "3: notifications/cancelled.",
    ]);
    talk.sees(&["answer 1 0 Cancelled", "answer 2 0 Cancelled"]);

    let site = &mut waiting(config(), "2025-11-25");
    site.session(0).ask(Some(0)).unwrap();
    site.session(0).sent.clear();
    let cancelled = notification("notifications/cancelled", r#""requestId":5"#);
    site.check(&HEAD, &cancelled, "202");
    site.session(0).says(&["3: notifications/cancelled."]);

    // One that took too long ends alone, and so does one of nobody's.
    let site = &mut waiting(config(), "2025-11-25");
    let talk = site.session(0);
    talk.ask(Some(0)).unwrap();
    talk.ask(None).unwrap();
    talk.sent.clear();
    let due = talk.server.poll_timeout().unwrap();
    talk.wait(due.as_millis())
        .says(&["3: notifications/cancelled", "0: notifications/cancelled"]);
    talk.answer(0, "{}").says(&["3: result."]);
}

#[test]
fn teardown() {
    let site = &mut waiting(config(), "2025-11-25");
    let talk = site.session(0);
    talk.server.cancel_all();
    talk.drain().sees(&["cancelled 0"]).says(&["3: ."]);

    let site = &mut waiting(config(), "2025-11-25");
    let talk = site.session(0);
    talk.server.hang_up();
    talk.drain().sees(&["cancelled 0", "closed"]).says(&[]);
    site.check(&HEAD, &call("6", "x"), "404");
}

/// SH-14.
#[test]
fn listens() {
    let filter = r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#;
    let body = request("1", "subscriptions/listen", &modern(filter));
    let head = [V5, "mcp-method: subscriptions/listen"];
    let begin = || {
        let mut site = Site::new();
        let acknowledged = "200 notifications/subscriptions/acknowledged open";
        site.check(&head, &body, acknowledged);
        let mut talk = site.alone.take().unwrap();
        talk.sees(&["listening 0"]).sent.clear();
        talk
    };
    let mut talk = begin();
    talk.server.list_changed(ListKind::Tools);
    talk.server.resource_updated("a:b");
    let token = talk.token(0);
    talk.server.end_listen(token);
    // SB-08: the end of the stream says what on a pipe has to be said.
    talk.drain().says(&[
        "1: notifications/tools/list_changed",
        "1: notifications/resources/updated",
        "1: result.",
    ]);
    begin().answer(0, "{}").says(&["1: result."]);
    let mut talk = begin();
    talk.fail(0, -32601);
    assert_eq!(talk.sent[0].status, 404);
    talk.says(&["1: -32601."]);
    let mut talk = begin();
    talk.server.cancel_all();
    talk.drain().says(&["1: result."]);
}

/// What is due on one channel is not written to another, and a full one holds up nobody.
#[test]
fn a_full_channel_holds_up_no_other() {
    let site = &mut waiting(config(), "2025-11-25");
    let talk = site.session(0);
    talk.server.list_changed(ListKind::Tools);
    let parent = talk.token(0);
    talk.ask(Some(0)).unwrap();
    let question = talk.questions()[0];
    talk.server.cancel(question);
    let server = &mut talk.server;
    let (pipe, mine) = (Channel::PIPE, Channel::new(3));
    assert_eq!(server.next_channel(), Some(mine));
    assert_eq!(server.next_channel_where(|it| it != mine), Some(pipe));
    assert_eq!(server.next_channel_where(|it| it.number() > 3), None);
    let mut out = [0; 256];
    let mut poll = |server: &mut mcp_proto::server::Server<'_, Small>, channel| {
        let transmit = server
            .poll_transmit(Instant::ZERO, channel, &mut out)
            .unwrap();
        transmit.map(|transmit| (transmit.channel, transmit.end))
    };
    assert_eq!(poll(server, Channel::new(9)), None);
    assert_eq!(poll(server, pipe), Some((pipe, false)));
    assert_eq!(poll(server, pipe), None);
    assert_eq!(poll(server, mine), Some((mine, false)));
    assert_eq!(poll(server, mine), None);
    assert!(server.is_live(parent));
    assert_eq!(server.next_channel(), None);
}

/// A request that is handed in again has not ended anything.
#[test]
fn what_is_forgotten_says_nothing() {
    let site = &mut waiting(config(), "2025-11-25");
    let token = site.session(0).token(0);
    site.session(0).server.unhandle(token);
    site.session(0).drain().says(&[]);
    site.check(&HEAD, &call("5", "x"), "200 result");
}

#[test]
fn an_answer_that_fits_nowhere_still_ends_its_exchange() {
    let config = ServerConfig {
        limits: Limits {
            output: 4096,
            ..Limits::default()
        },
        ..config()
    };
    let site = &mut waiting(config, "2025-11-25");
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(4100));
    site.session(0).answer(0, &large).says(&["3: -32603."]);
}

/// A pipe never ends, whatever the machine was made for.
#[test]
fn a_pipe_stays_open() {
    let mut talk = Site::open(config(), "2025-11-25", "{}");
    let server = &mut talk.session(0).server;
    let text = call("1", "x");
    let message = Incoming::Message(Message::parse(text.as_bytes(), 8));
    let Action::Event(Event::Request { token, .. }) =
        server.handle(Instant::ZERO, &Source::PIPE, message)
    else {
        panic!("it is a request");
    };
    let error = mcp_proto::rpc::ErrorObject::new(1, "no");
    let outcome = mcp_proto::Outcome::Error(error);
    let sent = server.respond(token, outcome, &mut [0; 256]);
    let sent = sent.unwrap();
    assert_eq!(
        (sent.channel, sent.end, sent.status),
        (Channel::PIPE, false, 200)
    );
}

#[test]
fn sources_lend_their_heads() {
    let head = Sent::post(&["mcp-method: ping"]);
    let endpoint = Endpoint::default();
    let Ok(Opening::Post(post)) = endpoint.open(&head) else {
        panic!("it is a POST");
    };
    let source = Source::post(Channel::new(4), &post);
    assert_eq!(source.channel().number(), 4);
    assert_eq!(
        source.head().and_then(|head| head.method),
        Some(&b"ping"[..])
    );
    assert!(Source::PIPE.head().is_none());
}

/// In the modern era nobody is asked, whichever way the request came. SH-16, SH-17.
#[test]
fn modern_requests_ask_nobody() {
    let mut site = Site::new();
    let head = [V5, "mcp-method: tools/call", "mcp-name: wait"];
    site.check(
        &head,
        &request("1", "tools/call", &modern(r#""name":"wait""#)),
        "open",
    );
    let talk = site.alone.as_mut().unwrap();
    assert_eq!(talk.ask(Some(0)), Err(SendError::NotInRevision));
    assert_eq!(talk.ask(None), Err(SendError::NotReady));
    talk.answer(0, "{}").says(&["1: result."]);
}

/// MR-19: a result that requires input ends its exchange like any other.
#[test]
fn a_result_that_requires_input_ends_its_exchange() {
    let mut site = Site::new();
    let head = [V5, "mcp-method: tools/call", "mcp-name: wait"];
    site.check(
        &head,
        &request("1", "tools/call", &modern(r#""name":"wait""#)),
        "open",
    );
    let talk = site.alone.as_mut().unwrap();
    talk.need(0, "state");
    assert!(talk.sent[0].text.contains("input_required"));
    talk.says(&["1: result."]);
}
