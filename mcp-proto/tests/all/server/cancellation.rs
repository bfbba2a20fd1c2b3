//! Cancellation, and `$/cancelRequest` of other protocols.

use mcp_proto::server::{Progress, ServerConfig};
use mcp_proto::{Outcome, SendError, Why};

use super::Talk;
use super::talk::{cancelled, config, error, initialize, notification, raw, request};

fn busy() -> Talk {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request(
        "1",
        "tools/call",
        r#""name":"x","_meta":{"progressToken":1}"#,
    ))
    .sees(&["request 0 tools/call x"]);
    talk
}

/// CN-04, ST-16: nothing more is said of it. CN-07.
#[test]
fn cn_04_no_response_follows() {
    let mut talk = busy();
    talk.say(&notification(
        "notifications/cancelled",
        r#""requestId":1,"reason":"user\ud83d""#,
    ))
    .sees(&["cancelled 0 user\u{FFFD}"])
    .hears(&[]);
    let late = Outcome::Result(&raw("{}"));
    assert_eq!(talk.outcome(0, late), Err(SendError::Stale));
    assert_eq!(talk.progress(0, Progress::new(1.0)), Err(SendError::Stale));
    assert_eq!(talk.server.in_flight(), 0);
    // Its id is free again.
    talk.say(&request("1", "tools/list", ""))
        .sees(&["request 1 tools/list"]);
}

/// CN-05, CN-08, CN-13.
#[test]
fn cn_05_what_names_nothing_is_ignored() {
    let mut talk = busy();
    for id in ["2", "\"1\"", "10", "-1", "\"\""] {
        talk.say(&cancelled(id)).ignores(Why::UnknownCancellation);
    }
    for id in ["null", "1.0", "[1]", "{}", "true", "1e0"] {
        talk.say(&cancelled(id)).ignores(Why::Malformed);
    }
    for params in ["", r#""requestId":1,"requestId":1"#, r#""id":1"#] {
        talk.say(&notification("notifications/cancelled", params))
            .ignores(Why::Malformed);
    }
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#)
        .ignores(Why::Malformed);
    assert!(talk.server.is_live(talk.token(0)));
    talk.answer(0, "{}");
    talk.hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    talk.say(&cancelled("1")).ignores(Why::UnknownCancellation);
}

/// CN-02: `initialize` is answered at once, so nothing is left to cancel.
#[test]
fn cn_02_initialize_is_never_cancelled() {
    let mut talk = Talk::new(config());
    talk.say(&cancelled("0")).ignores(Why::UnknownCancellation);
    talk.say(&initialize("2025-11-25", "{}"));
    assert!(talk.server.revision().is_some());
    let talk = talk
        .say(&cancelled("0"))
        .say(&notification("$/cancelRequest", r#""id":0"#));
    assert!(talk.server.revision().is_some());
}

/// CN-15, CN-16.
#[test]
fn the_alias_is_answered_once() {
    let mut talk = busy();
    talk.say(&notification("$/cancelRequest", r#""id":1"#))
        .sees(&["cancelled 0"])
        .hears(&[&error("1", -32800, "request cancelled")]);
    let late = Outcome::Result(&raw("{}"));
    assert_eq!(talk.outcome(0, late), Err(SendError::Stale));
    talk.say(&notification("$/cancelRequest", r#""id":1"#))
        .ignores(Why::UnknownCancellation);
    for params in [r#""id":"1""#, r#""id":5"#] {
        talk.say(&notification("$/cancelRequest", params))
            .ignores(Why::UnknownCancellation);
    }
    for params in ["", r#""id":null"#, r#""requestId":1"#, r#""id":1,"id":1"#] {
        talk.say(&notification("$/cancelRequest", params))
            .ignores(Why::Malformed);
    }
}

/// CN-15: as a request it is unknown, and the switch turns the notification off.
#[test]
fn the_alias_has_limits() {
    let mut talk = busy();
    talk.say(&request("2", "$/cancelRequest", r#""id":1"#))
        .hears(&[&error("2", -32601, "method not found")]);
    assert!(talk.server.is_live(talk.token(0)));
    let strict = ServerConfig {
        cancel_alias: false,
        ..config()
    };
    let mut talk = Talk::open(strict, "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .sees(&["request 0 tools/list"]);
    talk.say(&notification("$/cancelRequest", r#""id":1"#))
        .ignores(Why::UnknownNotification);
    assert!(talk.server.is_live(talk.token(0)));
}

/// A full table refuses, and still hears the cancellation that empties it.
#[test]
fn a_full_table_keeps_reading() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    for id in 1..=8 {
        talk.say(&request(&id.to_string(), "tools/list", ""));
    }
    let full = error("9", -32603, "limit reached: requests in flight");
    talk.say(&request("9", "tools/list", "")).hears(&[&full]);
    talk.say(&request("10", "ping", ""))
        .hears(&[r#"{"jsonrpc":"2.0","id":10,"result":{}}"#]);
    talk.say(&cancelled("3"));
    talk.say(&request("9", "tools/list", "")).hears(&[]);
    assert_eq!(talk.server.in_flight(), 8);
}
