//! Arrays in POST bodies, of 2025-03-26 alone: JR-15 to JR-18. The first POST of a test is the
//! third of its session.

use mcp_proto::Limits;
use mcp_proto::server::ServerConfig;

use crate::http_server::site::*;

const HEAD: [&str; 1] = ["mcp-session-id: s0"];

fn open() -> Site {
    Site::open(config(), "2025-03-26", r#"{"roots":{}}"#)
}

#[track_caller]
fn check(elements: &[&str], expected: &str) {
    let body = format!("[{}]", elements.join(","));
    open().check(&HEAD, &body, expected);
}

#[test]
fn one_answer_for_all() {
    let (x, ping) = (&*call("1", "x"), &*request("2", "ping", ""));
    check(&[x], "200 [result]");
    check(&[x, ping], "200 [result result]");
    check(&[x, INITIALIZED, ping], "200 [result result]");
    check(&[INITIALIZED], "202");
    check(&[&response("9"), &response("10")], "202");
    // An element is of the session, whatever it says of itself.
    let told = notification("notifications/odd", &modern(""));
    check(&[&told], "202");
    // HTTP has no such mixture.
    check(&[INITIALIZED, &response("9")], "400 -32600");
    check(&[&response("9"), x], "400 -32600");
    check(&["1", x, "{}"], "200 [-32600 result -32600]");
    check(&["1"], "200 [-32600]");
    check(&[x, x], "200 [result result]");
    check(&[&call("1", "wait"), x], "open");
    // JR-17, and what belongs to another era.
    check(&[&initialize("2025-03-26", "{}")], "200 [-32600]");
    check(&[&request("1", "tools/list", &modern(""))], "200 [-32600]");
    check(&[&format!("[{x}]")], "200 [-32600]");
}

#[test]
fn the_array_waits_for_its_last_answer() {
    let site = &mut open();
    let body = format!(
        "[{},{},{}]",
        call("1", "wait"),
        call("2", "x"),
        call("3", "wait")
    );
    site.check(&HEAD, &body, "open");
    let talk = site.session(0);
    talk.answer(2, "{}").says(&[]);
    // What is said on behalf of one of them does not wait.
    talk.ask(Some(0)).unwrap();
    talk.says(&["3: roots/list"]);
    site.check(&HEAD, &format!("[{}]", response("1")), "202");
    site.session(0).says(&[]);
    site.session(0)
        .answer(0, "{}")
        .says(&["3: [result result result]."]);
}

#[test]
fn the_cancelled_ones_are_left_out() {
    let cancel =
        |id: &str| notification("notifications/cancelled", &format!(r#""requestId":{id}"#));
    let two = format!("[{},{}]", call("1", "wait"), call("2", "wait"));
    let site = &mut open();
    site.check(&HEAD, &two, "open")
        .check(&HEAD, &cancel("1"), "202");
    site.session(0).says(&[]);
    site.session(0).answer(1, "{}").says(&["3: [result]."]);

    let site = &mut open();
    site.check(&HEAD, &two, "open");
    site.session(0).answer(0, "{}").says(&[]);
    site.check(&HEAD, &cancel("2"), "202");
    site.session(0).says(&["3: [result]."]);

    let site = &mut open();
    site.check(&HEAD, &two, "open").check(
        &HEAD,
        &format!("[{},{}]", cancel("2"), cancel("1")),
        "202",
    );
    site.session(0).says(&["3: ."]);

    // In the same breath.
    let body = format!("[{},{}]", call("1", "wait"), cancel("1"));
    let site = &mut open();
    site.check(&HEAD, &body, "200 ");
    site.session(0).says(&["3: ."]);
}

/// One array is gathered at a time; what comes meanwhile is answered one by one.
#[test]
fn a_second_array_is_answered_singly() {
    let site = &mut open();
    let (x, y) = (call("2", "x"), call("3", "y"));
    site.check(&HEAD, &format!("[{}]", call("1", "wait")), "open")
        .check(&HEAD, &format!("[{x},{y}]"), "200 result result")
        .check(&HEAD, &format!("[{x},1]"), "200 result -32600")
        .check(&HEAD, &format!("[{INITIALIZED}]"), "202")
        .check(
            &HEAD,
            &format!("[{},{x}]", call("4", "wait")),
            "200 result open",
        );
    let talk = site.session(0);
    talk.sent.clear();
    talk.answer(4, "{}").says(&["7: result."]);
}

#[test]
fn an_answer_without_room_leaves_alone_and_first() {
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(5000));
    let site = &mut open();
    let body = format!("[{},{}]", call("1", "wait"), call("2", "wait"));
    site.check(&HEAD, &body, "open");
    let talk = site.session(0);
    talk.answer(0, &large).says(&["3: result"]);
    talk.answer(1, "{}").says(&["3: [result]."]);

    let site = &mut open();
    site.check(&HEAD, &body, "open");
    let talk = site.session(0);
    talk.answer(0, &large).says(&["3: result"]);
    talk.answer(1, &large).says(&["3: result."]);
}

#[test]
fn more_elements_than_the_limit() {
    let config = ServerConfig {
        limits: Limits {
            batch: 2,
            ..Limits::default()
        },
        ..config()
    };
    let body = format!("[{}]", vec![call("1", "x"); 5].join(","));
    Site::open(config, "2025-03-26", "{}").check(&HEAD, &body, "200 [result result -32603]");
}
