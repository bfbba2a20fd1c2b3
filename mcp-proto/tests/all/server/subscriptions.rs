//! Subscriptions and list changes of a legacy session: RS-10, RS-16, LC-26.

use mcp_proto::server::{ListKind, ServerConfig};

use super::Talk;
use super::talk::{INITIALIZED, cancelled, config, error, initialize, request};

fn subscribe(id: &str, uri: &str) -> String {
    request(id, "resources/subscribe", &format!(r#""uri":"{uri}""#))
}

fn updated(uri: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#
    )
}

fn changed(list: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/{list}/list_changed"}}"#)
}

/// RS-10: only after a subscription that the application agreed to.
#[test]
fn rs_10_updates() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&subscribe("1", "file:///a"))
        .say(&subscribe("2", "file:///b"))
        .say(&subscribe("3", "file:///c"))
        .sees(&[
            "request 0 resources/subscribe file:///a",
            "request 1 resources/subscribe file:///b",
            "request 2 resources/subscribe file:///c",
        ]);
    talk.server.resource_updated("file:///a");
    talk.drain().hears(&[]);
    talk.answer(0, "{}").fail(1, -32002).say(&cancelled("3"));
    assert_eq!(
        talk.take(),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_string(),
            updated("file:///a"),
            error("2", -32002, "no"),
        ]
    );
    for uri in ["file:///a", "file:///b", "file:///c", "file:///a/sub"] {
        talk.server.resource_updated(uri);
    }
    talk.drain().hears(&[&updated("file:///a")]);
}

/// RS-16: twice is once, and who was never subscribed can leave.
#[test]
fn rs_16_twice_is_once() {
    let mut talk = Talk::open(config(), "2024-11-05", "{}");
    talk.say(&subscribe("1", "x:1"))
        .say(&subscribe("2", "x:\\u0031"));
    talk.answer(0, "{}").answer(1, "{}");
    talk.say(&subscribe("3", "x:1")).answer(2, "{}");
    assert_eq!(talk.take().len(), 3);
    talk.server.resource_updated("x:1");
    talk.drain().hears(&[&updated("x:1")]);
    let leave =
        |id: &str, uri: &str| request(id, "resources/unsubscribe", &format!(r#""uri":"{uri}""#));
    talk.say(&leave("4", "x:2")).answer(3, "{}");
    talk.say(&leave("5", "x:1")).answer(4, "{}");
    talk.say(&leave("6", "x:1")).answer(5, "{}");
    assert_eq!(talk.take().len(), 3);
    talk.server.resource_updated("x:1");
    talk.drain().hears(&[]);
    assert!(!talk.server.is_watched("x:1"));
}

#[test]
fn subscriptions_are_bounded() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    let full = |id: &str| error(id, -32603, "limit reached: subscriptions");
    talk.say(&subscribe("1", &"x".repeat(300)))
        .hears(&[&full("1")]);
    for id in 0..5 {
        talk.say(&subscribe(
            &id.to_string(),
            &format!("x:{}", "y".repeat(30 + id)),
        ))
        .answer(id, "{}");
    }
    talk.take();
    talk.say(&subscribe("9", &"x".repeat(40)))
        .hears(&[&full("9")]);
    assert_eq!(talk.server.in_flight(), 0);
}

/// LC-26: what changes before `initialized` is told after it, once. RS-02, PR-02.
#[test]
fn list_changes_wait_until_initialized() {
    let mut talk = Talk::new(config());
    talk.server.list_changed(ListKind::Tools);
    talk.drain().hears(&[]);
    talk.say(&initialize("2025-11-25", "{}"));
    talk.take();
    talk.server.list_changed(ListKind::Resources);
    talk.server.list_changed(ListKind::Tools);
    talk.server.list_changed(ListKind::Resources);
    talk.drain().hears(&[]);
    talk.say(INITIALIZED)
        .hears(&[&changed("tools"), &changed("resources")]);
    talk.server.list_changed(ListKind::Prompts);
    talk.drain().hears(&[&changed("prompts")]);
    // Who did not declare it does not tell.
    let mut talk = Talk::open(ServerConfig::new("s", "1"), "2025-11-25", "{}");
    talk.server.list_changed(ListKind::Tools);
    talk.drain().hears(&[]);
}

/// TL-02 in both eras of one pipe.
#[test]
fn both_eras_hear_of_a_change() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&super::talk::modern(
        "1",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
        "{}",
    ));
    talk.take();
    talk.server.list_changed(ListKind::Tools);
    talk.drain();
    assert_eq!(talk.take().len(), 2);
}
