//! `subscriptions/listen`: SB-01 to SB-14, CN-11, CN-17.

use mcp_proto::model::LoggingLevel;
use mcp_proto::server::{ListKind, Progress, ServerConfig};
use mcp_proto::{Limits, SendError, Why};

use super::Talk;
use super::talk::{cancelled, config, error, modern};

fn listen(id: &str, filter: &str) -> String {
    modern(
        id,
        "subscriptions/listen",
        &format!(r#""notifications":{filter}"#),
        "{}",
    )
}

fn told(id: &str, method: &str, members: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}{members}}}}}"#
    )
}

fn acknowledged(id: &str, filter: &str) -> String {
    told(
        id,
        "subscriptions/acknowledged",
        &format!(r#","notifications":{filter}"#),
    )
}

fn ended(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

/// SB-01, SB-02, SB-03, SB-14.
#[test]
fn sb_02_the_honoured_subset_is_acknowledged_first() {
    #[track_caller]
    fn check(config: ServerConfig<'static>, filter: &str, honoured: &str) {
        let mut talk = Talk::new(config);
        talk.say(&listen("\"l\"", filter))
            .sees(&["listening 0"])
            .hears(&[&acknowledged("\"l\"", honoured)]);
    }
    let all = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","b:\u0063"]}"#;
    check(config(), all, &all.replace("\\u0063", "c"));
    check(config(), "{}", "{}");
    check(
        config(),
        r#"{"toolsListChanged":false,"promptsListChanged":1,"nonsense":true}"#,
        "{}",
    );
    check(
        config(),
        r#"{"resourceSubscriptions":["a:b","a:b"]}"#,
        r#"{"resourceSubscriptions":["a:b"]}"#,
    );
    check(ServerConfig::new("s", "1"), all, "{}");
}

#[test]
fn filters_that_are_none() {
    for (params, what) in [
        ("", "notifications is missing or malformed"),
        (
            r#""notifications":1"#,
            "notifications is missing or malformed",
        ),
        (
            r#""notifications":{},"notifications":{}"#,
            "notifications occurs twice",
        ),
        (
            r#""notifications":{"resourceSubscriptions":"a"}"#,
            "resourceSubscriptions is missing or malformed",
        ),
        (
            r#""notifications":{"resourceSubscriptions":["a",1]}"#,
            "resourceSubscriptions is missing or malformed",
        ),
        (
            r#""notifications":{"resourceSubscriptions":["\udead"]}"#,
            "resourceSubscriptions is missing or malformed",
        ),
    ] {
        let mut talk = Talk::new(config());
        talk.say(&modern("1", "subscriptions/listen", params, "{}"))
            .hears(&[&error("1", -32602, what)])
            .sees(&[]);
        assert!(!talk.server.is_watched("a"));
    }
}

/// SB-01, RS-11, TL-02: each hears what it asked for, once for several changes.
#[test]
fn sb_01_changes_are_told_to_whom_they_concern() {
    let mut talk = Talk::new(config());
    talk.say(&listen("1", r#"{"toolsListChanged":true}"#))
        .say(&listen(
            "\"1\"",
            r#"{"promptsListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["file:///d"]}"#,
        ))
        .sees(&["listening 0", "listening 1"]);
    assert_eq!(talk.take().len(), 2);
    assert_eq!(talk.server.in_flight(), 0);
    talk.server.list_changed(ListKind::Tools);
    talk.server.list_changed(ListKind::Tools);
    talk.server.list_changed(ListKind::Resources);
    talk.server.resource_updated("file:///d/e");
    talk.server.resource_updated("file:///other");
    talk.drain().hears(&[
        &told("1", "tools/list_changed", ""),
        &told("\"1\"", "tools/list_changed", ""),
        &told("\"1\"", "resources/updated", r#","uri":"file:///d""#),
    ]);
    talk.server.list_changed(ListKind::Prompts);
    talk.server.resource_updated("file:///d");
    talk.drain().hears(&[
        &told("\"1\"", "prompts/list_changed", ""),
        &told("\"1\"", "resources/updated", r#","uri":"file:///d""#),
    ]);
    assert!(talk.server.is_watched("file:///d/x"));
    // SB-11
    talk.say(&cancelled("\"1\""))
        .sees(&["cancelled 1"])
        .hears(&[]);
    assert!(!talk.server.is_watched("file:///d/x"));
    talk.server.list_changed(ListKind::Tools);
    talk.drain().hears(&[&told("1", "tools/list_changed", "")]);
}

/// SB-08, CN-11, CN-17: what changed before is told, then the result, then the cancellation.
#[test]
fn sb_08_ending() {
    let mut talk = Talk::new(config());
    talk.say(&listen("4", r#"{"toolsListChanged":true}"#));
    assert_eq!(talk.take().len(), 1);
    talk.server.list_changed(ListKind::Tools);
    talk.server.end_listen(talk.token(0));
    talk.server.end_listen(talk.token(0));
    talk.drain()
        .hears(&[
            &told("4", "tools/list_changed", ""),
            &ended("4"),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#,
        ])
        .sees(&["listening 0"]);
    talk.server.end_listen(talk.token(0));
    talk.say(&cancelled("4")).ignores(Why::UnknownCancellation);
    talk.say(&listen("4", "{}"))
        .hears(&[&acknowledged("4", "{}")]);
}

/// An application may answer a listen by itself, and end all of them when it goes.
#[test]
fn listens_end_with_the_server() {
    let mut talk = Talk::new(config());
    talk.say(&listen("1", "{}")).say(&listen("2", "{}"));
    assert_eq!(talk.take().len(), 2);
    talk.fail(0, -32603).hears(&[&error("1", -32603, "no")]);
    talk.server.cancel_all();
    talk.drain().hears(&[
        &ended("2"),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    ]);
    talk.sees(&["listening 0", "listening 1"]);
    talk.say(&listen("3", "{}"))
        .hears(&[&acknowledged("3", "{}")]);
    talk.answer(2, "{}").hears(&[
        &ended("3"),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    ]);
}

/// SB-07.
#[test]
fn sb_07_no_progress_on_a_listen() {
    let mut talk = Talk::new(config());
    let line = listen("1", "{}").replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
    talk.say(&line);
    assert_eq!(talk.progress(0, Progress::new(1.0)), Err(SendError::Stale));
}

/// LG-06: log messages of no request travel on it, even if it asked for some.
#[test]
fn lg_06_no_logs_on_a_listen() {
    let mut talk = Talk::new(config());
    let level = r#""_meta":{"io.modelcontextprotocol/logLevel":"debug","#;
    talk.say(&listen("1", "{}").replace(r#""_meta":{"#, level))
        .hears(&[&acknowledged("1", "{}")]);
    let log = talk.log(Some(0), LoggingLevel::Error, "x");
    assert_eq!(log, Err(SendError::Stale));
    let log = talk.log(None, LoggingLevel::Error, "x");
    assert_eq!(log, Err(SendError::NotReady));
    talk.hears(&[]);
}

/// What there is no room for is refused as a whole.
#[test]
fn listens_are_bounded() {
    let mut talk = Talk::new(config());
    let long = format!(
        r#"{{"resourceSubscriptions":["a:b","c:{}"]}}"#,
        "x".repeat(300)
    );
    talk.say(&listen("1", &long))
        .hears(&[&error("1", -32603, "limit reached: subscriptions")])
        .sees(&[]);
    assert!(!talk.server.is_watched("a:b"));
    // An acknowledgement that no outbox holds.
    let small = ServerConfig {
        limits: Limits {
            output: 2300,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::new(small);
    talk.say(&listen("1", r#"{"resourceSubscriptions":["a:b"]}"#))
        .sees(&["listening 0"]);
    talk.say(&listen("2", &long.replace("xxxxxxxxxx", "")))
        .sees(&["listening 1"]);
}

/// What was ended is not told of again, even if its last messages never leave.
#[test]
fn an_ended_listen_has_no_event() {
    for hang_up in [true, false] {
        let mut talk = Talk::new(config());
        talk.say(&listen("4", "{}")).sees(&["listening 0"]);
        talk.take();
        talk.server.end_listen(talk.token(0));
        if hang_up {
            let now = talk.now;
            mcp_proto::Machine::hang_up(&mut talk.server, now);
            talk.drain().sees(&["closed"]);
        } else {
            talk.say(&cancelled("4")).ignores(Why::Absorbed);
        }
    }
}
