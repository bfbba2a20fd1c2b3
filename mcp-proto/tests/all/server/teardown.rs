//! How a connection ends: every request does so, exactly once.

use mcp_proto::server::{AskOptions, ListKind};
use mcp_proto::{Machine, Outcome, SendError};

use super::Talk;
use super::talk::{config, modern, notification, raw, request};

fn full() -> Talk {
    let mut talk = Talk::open(config(), "2025-03-26", r#"{"roots":{}}"#);
    talk.say(&request("1", "tools/list", ""))
        .say(&format!("[{}]", request("2", "tools/list", "")))
        .say(&modern("3", "tools/list", "", "{}"))
        .say(&modern(
            "4",
            "subscriptions/listen",
            r#""notifications":{}"#,
            "{}",
        ));
    talk.ask(Some(0), "roots/list", "{}", AskOptions::default())
        .unwrap();
    talk.take();
    talk.sees(&[
        "request 0 tools/list",
        "request 1 tools/list",
        "request 2 tools/list",
        "listening 3",
    ]);
    talk
}

#[test]
fn hanging_up_ends_everything_once() {
    let mut talk = full();
    let now = talk.now;
    talk.server.hang_up(now);
    talk.server.hang_up(now);
    assert_eq!(talk.server.poll_timeout(), None);
    talk.drain().hears(&[]).sees(&[
        "answer 4 0 Closed",
        "cancelled 0",
        "cancelled 1",
        "cancelled 2",
        "cancelled 3",
        "closed",
    ]);
    talk.server.list_changed(ListKind::Tools);
    talk.server.cancel_all();
    talk.server.cancel(talk.question(4));
    talk.drain().hears(&[]).sees(&[]);
    let late = Outcome::Result(&raw("{}"));
    assert_eq!(talk.outcome(0, late), Err(SendError::Closed));
    assert_eq!(
        talk.ask(None, "roots/list", "{}", AskOptions::default()),
        Err(SendError::Closed)
    );
    assert_eq!(talk.server.in_flight(), 0);
}

/// The grace of an orderly shutdown is over; what was answered still leaves.
#[test]
fn cancelling_everything() {
    let mut talk = full();
    assert_eq!(talk.server.in_flight(), 3);
    talk.answer(1, "{}");
    talk.take();
    talk.server.cancel_all();
    talk.drain()
        .sees(&["answer 4 0 Cancelled", "cancelled 0", "cancelled 2"]);
    assert_eq!(talk.server.in_flight(), 0);
    let lines = talk.take();
    // The listen's result and its end, and the question's cancellation.
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(!talk.server.is_closed());
}

/// A request that was cancelled by the alias is not told of twice.
#[test]
fn the_alias_and_the_end() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .say(&notification("$/cancelRequest", r#""id":1"#))
        .sees(&["request 0 tools/list", "cancelled 0"]);
    let now = talk.now;
    talk.server.hang_up(now);
    talk.drain().sees(&["closed"]);
}

/// An event that could not be handled comes again.
#[test]
fn a_forgotten_request_comes_again() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    let line = request("1", "resources/subscribe", r#""uri":"a:b""#);
    talk.say(&line).sees(&["request 0 resources/subscribe a:b"]);
    let token = talk.token(0);
    talk.server.forget(token);
    talk.server.forget(token);
    assert!(!talk.server.is_watched("a:b"));
    talk.say(&line).sees(&["request 1 resources/subscribe a:b"]);
    talk.answer(1, "{}")
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    assert!(talk.server.is_watched("a:b"));
}
