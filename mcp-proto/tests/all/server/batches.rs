//! Arrays: JR-15..19, JR-54, JR-55.

use mcp_proto::server::{AskOptions, ProgressReport, ServerConfig};
use mcp_proto::{Limits, SendError};

use super::Talk;
use crate::script::server::{
    REQUEST_CANCELLED, cancelled, config, error, initialize, modern, notification, request,
};

fn batch(elements: &[&str]) -> String {
    format!("[{}]", elements.join(","))
}

fn open() -> Talk {
    Talk::open(config(), "2025-03-26", "{}")
}

fn result(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

const NOT_HERE: &str =
    r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"batches are not supported"}}"#;

/// JR-15: one array of answers, when the last one is there. ST-07.
#[test]
fn jr_15_answers_leave_together() {
    let mut talk = open();
    let list = request("1", "tools/list", "");
    let ping = request("\"p\"", "ping", "");
    let call = request("2", "tools/call", r#""name":"x""#);
    talk.say(&batch(&[
        &list,
        &ping,
        &call,
        r#"{"jsonrpc":"2.0","method":"x"}"#,
    ]))
    .sees(&["request 0 tools/list", "request 1 tools/call x"])
    .hears(&[]);
    talk.answer(1, "{}").hears(&[]);
    talk.answer(0, "{}")
        .hears(&[&batch(&[&result("\"p\""), &result("2"), &result("1")])]);
    // And the next one.
    talk.say(&batch(&[&ping]))
        .hears(&[&batch(&[&result("\"p\"")])]);
}

/// JR-18: bad elements stop no other.
#[test]
fn jr_18_bad_elements() {
    let mut talk = open();
    let not_object =
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"message is not an object"}}"#;
    talk.say("[1,2,3]")
        .hears(&[&batch(&[not_object, not_object, not_object])]);
    let ping = request("1", "ping", "");
    let broken = r#"{"jsonrpc":"1.0","id":2,"method":"ping"}"#;
    let wrong_notification = r#"{"method":"x"}"#;
    let response = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
    talk.say(&batch(&[broken, wrong_notification, response, &ping]))
        .hears(&[&batch(&[
            &error("2", -32600, "jsonrpc must be \\\"2.0\\\""),
            &result("1"),
        ])]);
    talk.say("[]")
        .hears(&[r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"batch is empty"}}"#]);
    talk.say(&batch(&[&notification("x", ""), &notification("y", "")]))
        .hears(&[]);
    talk.say("[1,").hears(&[
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"message is not valid JSON"}}"#,
    ]);
    talk.say(&ping).hears(&[&result("1")]);
}

/// JR-19: elsewhere an array is one error, and nothing in it is looked at.
#[test]
fn jr_19_arrays_elsewhere() {
    let array = batch(&[
        &initialize("2025-03-26", "{}"),
        &request("1", "ping", ""),
        "7",
    ]);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut talk = Talk::open(config(), version, "{}");
        talk.say(&array).hears(&[NOT_HERE]).sees(&[]);
        talk.say(&request("1", "ping", "")).hears(&[&result("1")]);
    }
    let mut talk = Talk::with(config());
    talk.say(&array).hears(&[NOT_HERE]);
    assert_eq!(talk.machine.revision(), None);
}

/// JR-17, and the other era's requests.
#[test]
fn jr_17_what_must_not_be_in_an_array() {
    let mut talk = open();
    talk.say(&batch(&[
        &initialize("2025-03-26", "{}"),
        &modern("5", "tools/list", "", "{}"),
    ]))
    .hears(&[&batch(&[
        &error("0", -32600, "initialize must not be part of a batch"),
        &error("5", -32600, "this revision has no batches"),
    ])]);
}

/// JR-54, CN-04: a cancelled element counts as answered.
#[test]
fn a_cancelled_element_does_not_hold_its_array() {
    let mut talk = open();
    let (one, two) = (
        request("1", "tools/list", ""),
        request("2", "tools/list", ""),
    );
    talk.say(&batch(&[&one, &two, &cancelled("1")])).sees(&[
        "request 0 tools/list",
        "request 1 tools/list",
        "cancelled 0",
    ]);
    talk.answer(1, "{}").hears(&[&batch(&[&result("2")])]);
    // The last one cancelled.
    talk.say(&batch(&[&one, &two]));
    talk.answer(2, "{}").hears(&[]);
    talk.say(&cancelled("2")).hears(&[&batch(&[&result("1")])]);
    // All of them.
    talk.say(&batch(&[&one, &two]));
    talk.say(&cancelled("1")).say(&cancelled("2")).hears(&[]);
    talk.say(&batch(&[&request("3", "ping", "")]))
        .hears(&[&batch(&[&result("3")])]);
    // The alias is answered in the array.
    talk.say(&batch(&[&one, &two]));
    talk.say(&notification("$/cancelRequest", r#""id":1"#))
        .hears(&[]);
    talk.say(&cancelled("2"))
        .hears(&[&batch(&[&error("1", -32800, REQUEST_CANCELLED)])]);
}

/// Questions, progress and other answers pass while an array is gathered.
#[test]
fn others_pass_an_open_array() {
    let mut talk = Talk::open(config(), "2025-03-26", r#"{"roots":{}}"#);
    let slow = request(
        "1",
        "tools/call",
        r#""name":"x","_meta":{"progressToken":5}"#,
    );
    talk.say(&batch(&[&slow]));
    talk.progress(0, ProgressReport::new(1.0)).unwrap();
    talk.ask(Some(0), "roots/list", "{}", AskOptions::default())
        .unwrap();
    talk.hears(&[
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}"#,
    ]);
    talk.say(&request("2", "ping", "")).hears(&[&result("2")]);
    // A second array meanwhile is answered singly.
    talk.say(&batch(&[
        &request("3", "ping", ""),
        &request("4", "ping", ""),
    ]))
    .hears(&[&result("3"), &result("4")]);
    // JR-55: answers in an array, with a request among them.
    talk.say(&batch(&[
        r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
        &request("5", "ping", ""),
    ]))
    .hears(&[&result("5")]);
    talk.sees(&["request 0 tools/call x", r#"answer 1 0 {"roots":[]}"#]);
    talk.answer(0, "{}").hears(&[&batch(&[&result("1")])]);
}

/// At most `Limits::batch` elements, and one error for all others.
#[test]
fn long_arrays_are_cut() {
    let limited = ServerConfig {
        limits: Limits {
            batch: 2,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::open(limited, "2025-03-26", "{}");
    let pings = ["1", "2", "3", "4"].map(|id| request(id, "ping", ""));
    talk.say(&batch(&pings.each_ref().map(String::as_str)))
        .hears(&[&batch(&[
            &result("1"),
            &result("2"),
            r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"limit reached: elements of a batch"}}"#,
        ])]);
    // What wants no answer is still heard.
    talk.say(&request("5", "tools/list", ""));
    talk.say(&batch(&[&pings[0], &pings[1], &cancelled("5")]))
        .sees(&["request 0 tools/list", "cancelled 0"])
        .hears(&[&batch(&[&result("1"), &result("2")])]);
}

/// An answer that has no room among the others leaves by itself.
#[test]
fn large_answers_leave_singly() {
    let mut talk = open();
    let (one, two) = (
        request("1", "tools/list", ""),
        request("2", "tools/list", ""),
    );
    talk.say(&batch(&[&one, &two]));
    let large = format!(r#"{{"x":"{}"}}"#, "y".repeat(5000));
    talk.answer(0, &large)
        .hears(&[&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{large}}}"#)]);
    talk.answer(1, "{}").hears(&[&batch(&[&result("2")])]);
}

/// An element whose event could not be handled comes again, and counts once.
#[test]
fn a_forgotten_element_is_not_counted() {
    let mut talk = open();
    talk.say(&batch(&[&request("1", "tools/list", "")]))
        .sees(&["request 0 tools/list"]);
    let token = talk.token(0);
    mcp_proto::Machine::unhandle(&mut talk.machine, token);
    assert!(!talk.machine.is_live(token));
    talk.drain().hears(&[]).sees(&[]);
    talk.say(&batch(&[&request("1", "ping", "")]))
        .hears(&[&batch(&[&result("1")])]);
    let stale = talk.outcome(
        0,
        mcp_proto::Outcome::Result(&crate::script::server::raw("{}")),
    );
    assert_eq!(stale, Err(SendError::Stale));
}

/// Without a buffer, arrays are refused.
#[test]
fn no_buffer_no_arrays() {
    let limited = ServerConfig {
        limits: Limits {
            batch_bytes: 0,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::open(limited, "2025-03-26", "{}");
    talk.say(&batch(&[&request("1", "ping", "")]))
        .hears(&[NOT_HERE]);
}
