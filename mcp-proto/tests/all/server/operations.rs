//! The server under random operations: every request and every question ends exactly once.

use std::collections::BTreeMap;

use mcp_proto::server::{AskOptions, ListKind, ProgressReport, ServerConfig};
use mcp_proto::{Limits, Machine, PingPolicy};
use proptest::prelude::*;

use super::Talk;
use crate::script::server::{cancelled, config, modern, notification, request};

#[derive(Clone, Debug)]
enum Operation {
    /// A line, and how many answers it asks for.
    Say(String, usize),
    /// The same request as an array.
    Answer(usize),
    Fail(usize),
    Alias(u8),
    Progress(usize, u8),
    Ask(Option<usize>),
    Drop(usize),
    Reply(u8),
    End(usize),
    Forget(usize),
    Changed,
    Updated,
    Wait(u16),
    CancelAll,
}

/// What the application knows to be open.
#[derive(Default)]
struct Open {
    requests: BTreeMap<usize, bool>,
    questions: BTreeMap<usize, ()>,
}

fn check(version: &str, operations: &[Operation]) {
    let config = ServerConfig {
        limits: Limits {
            // Every element of an array wants its answer.
            batch: 1000,
            ..Limits::default()
        },
        ping: Some(PingPolicy {
            misses: u32::MAX,
            ..PingPolicy::default()
        }),
        ..config()
    };
    let mut talk = Talk::open(config, version, r#"{"roots":{}}"#);
    let mut open = Open::default();
    let (mut asked, mut answered) = (0, 0);
    for operation in operations {
        let nth = |n: usize, open: &Open| {
            let count = open.requests.len().max(1);
            open.requests.keys().nth(n % count).copied()
        };
        match operation {
            Operation::Say(line, answers) => {
                talk.say(line);
                asked += answers;
            }
            Operation::Answer(n) => {
                let Some(n) = nth(*n, &open) else { continue };
                talk.answer(n, r#"{"x":1}"#);
                open.requests.remove(&n);
            }
            Operation::Fail(n) => {
                let Some(n) = nth(*n, &open) else { continue };
                talk.fail(n, -32603);
                open.requests.remove(&n);
            }
            Operation::Alias(id) => {
                talk.say(&notification("$/cancelRequest", &format!("\"id\":{id}")));
                // Its answer is on the wire.
                let events = talk.events();
                answered -= events
                    .iter()
                    .filter(|event| event.starts_with("cancelled"))
                    .count() as isize;
                note(&mut open, &events, &mut answered);
            }
            Operation::Progress(n, value) => {
                let Some(n) = nth(*n, &open) else { continue };
                let _ = talk.progress(n, ProgressReport::new(f64::from(*value)));
            }
            Operation::Ask(parent) => {
                let parent = parent.and_then(|n| nth(n, &open));
                if talk
                    .ask(parent, "roots/list", "{}", AskOptions::default())
                    .is_ok()
                {
                    open.questions.insert(talk.tokens() - 1, ());
                }
            }
            Operation::Drop(n) => {
                let count = open.questions.len().max(1);
                let Some(n) = open.questions.keys().nth(n % count).copied() else {
                    continue;
                };
                talk.machine.cancel(talk.question(n));
                open.questions.remove(&n);
            }
            Operation::Reply(id) => {
                talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            Operation::End(n) => {
                let Some(n) = nth(*n, &open).filter(|n| open.requests[n]) else {
                    continue;
                };
                talk.machine.end_listen(talk.token(n));
                open.requests.remove(&n);
            }
            Operation::Forget(n) => {
                let Some(n) = nth(*n, &open) else { continue };
                talk.machine.unhandle(talk.token(n));
                open.requests.remove(&n);
                answered += 1;
            }
            Operation::Changed => talk.machine.list_changed(ListKind::Tools),
            Operation::Updated => talk.machine.resource_updated("x:1"),
            Operation::Wait(millis) => {
                talk.wait(u64::from(*millis));
            }
            Operation::CancelAll => {
                // Listens end well, by a result.
                open.requests.retain(|_, listen| !*listen);
                talk.machine.cancel_all();
            }
        }
        talk.drain();
        let events = talk.events();
        note(&mut open, &events, &mut answered);
        answered += responses(&mut talk);
        let running = open.requests.values().filter(|listen| !**listen).count();
        assert_eq!(talk.machine.in_flight(), running);
        assert!(talk.machine.poll_timeout().is_none_or(|at| at > talk.now));
        for n in open.requests.iter().filter(|(_, listen)| !**listen) {
            assert!(talk.machine.is_live(talk.token(*n.0)));
        }
    }
    // Whatever is left can be answered, and then nothing is owed.
    for (n, listen) in core::mem::take(&mut open.requests) {
        match listen {
            true => talk.machine.end_listen(talk.token(n)),
            false => drop(talk.answer(n, "{}")),
        }
    }
    talk.drain();
    let events = talk.events();
    note(&mut open, &events, &mut answered);
    answered += responses(&mut talk);
    assert_eq!(answered, asked as isize);
    assert_eq!(talk.machine.in_flight(), 0);
    talk.machine.hang_up();
    talk.drain();
    let events = talk.events();
    note(&mut open, &events, &mut answered);
    assert!(open.questions.is_empty());
    assert_eq!(events.last().map(String::as_str), Some("closed"));
    assert_eq!(talk.machine.poll_timeout(), None);
}

/// What the events opened and ended; the rest is none of ours.
fn note(open: &mut Open, events: &[String], answered: &mut isize) {
    for event in events {
        let mut words = event.split(' ');
        let kind = words.next().unwrap_or_default();
        let Some(n) = words.next().and_then(|n| n.parse().ok()) else {
            continue;
        };
        match kind {
            "request" => assert_eq!(open.requests.insert(n, false), None),
            "listening" => assert_eq!(open.requests.insert(n, true), None),
            "cancelled" => {
                assert!(open.requests.remove(&n).is_some(), "{event}");
                *answered += 1;
            }
            "answer" => assert_eq!(open.questions.remove(&n), Some(()), "{event}"),
            _ => {}
        }
    }
}

/// How many answers there are among the lines, those of arrays counted one by one.
fn responses(talk: &mut Talk) -> isize {
    let mut count = 0;
    for line in talk.heard() {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let elements = match value {
            serde_json::Value::Array(elements) => elements,
            single => vec![single],
        };
        count += elements
            .iter()
            .filter(|message| message.get("method").is_none())
            .count();
    }
    count as isize
}

fn line() -> impl Strategy<Value = (String, usize)> {
    let id = prop_oneof![
        (0..6u8).prop_map(|id| id.to_string()),
        Just("\"0\"".to_string())
    ];
    let one = (id, 0..14u8).prop_map(|(id, kind)| match kind {
        0..3 => (
            request(&id, "tools/list", r#""_meta":{"progressToken":1}"#),
            1,
        ),
        3..5 => (modern(&id, "tools/call", r#""name":"x""#, "{}"), 1),
        5 => (request(&id, "resources/subscribe", r#""uri":"x:1""#), 1),
        6 => (request(&id, "resources/unsubscribe", r#""uri":"x:1""#), 1),
        7 => (
            modern(
                &id,
                "subscriptions/listen",
                r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:1"]}"#,
                "{}",
            ),
            1,
        ),
        8 => (request(&id, "ping", ""), 1),
        9 => (request(&id, "nonsense", ""), 1),
        10 => (r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#.to_string(), 1),
        11 => (notification("notifications/nonsense", ""), 0),
        _ => (cancelled(&id), 0),
    });
    prop_oneof![
        6 => one.clone(),
        1 => proptest::collection::vec(one, 1..5).prop_map(|elements| {
            let lines: Vec<_> = elements.iter().map(|(line, _)| line.as_str()).collect();
            let answers = elements.iter().map(|(_, answers)| answers).sum();
            (format!("[{}]", lines.join(",")), answers)
        }),
    ]
}

fn operations(batches: bool) -> impl Strategy<Value = Vec<Operation>> {
    let one = prop_oneof![
        8 => line().prop_map(move |(line, answers)| {
            // Where there are no arrays, one is one error.
            let answers = if line.starts_with('[') && !batches { 1 } else { answers };
            Operation::Say(line, answers)
        }),
        4 => any::<usize>().prop_map(Operation::Answer),
        1 => any::<usize>().prop_map(Operation::Fail),
        1 => (0..6u8).prop_map(Operation::Alias),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(n, value)| Operation::Progress(n, value)),
        2 => proptest::option::of(any::<usize>()).prop_map(Operation::Ask),
        1 => any::<usize>().prop_map(Operation::Drop),
        2 => (0..20u8).prop_map(Operation::Reply),
        1 => any::<usize>().prop_map(Operation::End),
        1 => any::<usize>().prop_map(Operation::Forget),
        1 => Just(Operation::Changed),
        1 => Just(Operation::Updated),
        2 => any::<u16>().prop_map(Operation::Wait),
        1 => Just(Operation::CancelAll),
    ];
    proptest::collection::vec(one, 0..60)
}

proptest! {
    #[test]
    fn everything_ends_exactly_once(operations in operations(false)) {
        check("2025-11-25", &operations);
    }

    #[test]
    fn everything_ends_exactly_once_in_arrays_too(operations in operations(true)) {
        check("2025-03-26", &operations);
    }
}
