//! Whatever happens in a session, each exchange ends once, and nothing follows its end.

use std::collections::BTreeMap;

use mcp_proto::server::{ListKind, ServerConfig};
use mcp_proto::{Limits, Machine};
use proptest::prelude::*;

use crate::http_server::site::*;

const HEAD: [&str; 1] = ["mcp-session-id: s0"];

#[derive(Clone, Debug)]
enum Step {
    /// A POST with these elements; one of them alone is no array.
    Post(Vec<Element>),
    Answer(usize),
    Fail(usize),
    /// More than an array or an outbox holds.
    Large(usize),
    Log(usize),
    Ask(Option<usize>),
    GiveUp(usize),
    Change,
    Wait(u64),
    CancelAll,
}

#[derive(Clone, Debug)]
enum Element {
    Call(u8),
    Waiting(u8),
    Cancel(u8),
    Alias(u8),
    Response(u8),
    Broken,
    Ping,
}

impl Element {
    fn text(&self) -> String {
        match self {
            Self::Call(id) => call(&id.to_string(), "x"),
            Self::Waiting(id) => call(&id.to_string(), "wait"),
            Self::Cancel(id) => {
                notification("notifications/cancelled", &format!(r#""requestId":{id}"#))
            }
            Self::Alias(id) => notification("$/cancelRequest", &format!(r#""id":{id}"#)),
            Self::Response(id) => response(&id.to_string()),
            Self::Broken => "{}".into(),
            Self::Ping => request("99", "ping", ""),
        }
    }
}

fn element() -> impl Strategy<Value = Element> {
    let id = 0..6u8;
    prop_oneof![
        2 => id.clone().prop_map(Element::Call),
        6 => id.clone().prop_map(Element::Waiting),
        2 => id.clone().prop_map(Element::Cancel),
        1 => id.clone().prop_map(Element::Alias),
        2 => id.prop_map(Element::Response),
        1 => Just(Element::Broken),
        1 => Just(Element::Ping),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let n = 0..8usize;
    prop_oneof![
        8 => prop::collection::vec(element(), 1..4).prop_map(Step::Post),
        4 => n.clone().prop_map(Step::Answer),
        1 => n.clone().prop_map(Step::Fail),
        1 => n.clone().prop_map(Step::Large),
        1 => n.clone().prop_map(Step::Log),
        3 => prop::option::of(n.clone()).prop_map(Step::Ask),
        1 => n.prop_map(Step::GiveUp),
        1 => Just(Step::Change),
        1 => (1..400_000u64).prop_map(Step::Wait),
        1 => Just(Step::CancelAll),
    ]
}

/// The channels that were heard of, and whether they have ended.
#[derive(Default)]
struct Heard(BTreeMap<u32, bool>);

impl Heard {
    fn listen(&mut self, talk: &mut Talk) {
        for said in talk.sent.drain(..) {
            let ended = self.0.entry(said.channel.number()).or_default();
            assert!(!*ended, "behind the end: {said:?}");
            *ended = said.end;
        }
    }
}

fn run(version: &str, steps: &[Step]) {
    let config = ServerConfig {
        limits: Limits {
            output: 8192,
            ..Limits::default()
        },
        ..config()
    };
    let mut site = Site::open(config, version, r#"{"roots":{}}"#);
    let mut heard = Heard::default();
    for step in steps {
        let live = site.session(0).live();
        let pick = |n: &usize| live.get(n % live.len().max(1)).copied();
        let talk = site.session(0);
        match step {
            Step::Post(elements) => {
                let texts: Vec<String> = elements.iter().map(Element::text).collect();
                let body = match &*texts {
                    [one] => one.clone(),
                    all => format!("[{}]", all.join(",")),
                };
                let answered = site.post(&HEAD, &body);
                if answered != "202" && !answered.starts_with("400") {
                    let channel = site.last().number();
                    heard.0.entry(channel).or_default();
                }
            }
            Step::Answer(n) => {
                if let Some(n) = pick(n) {
                    talk.answer(n, "{}");
                }
            }
            Step::Fail(n) => {
                if let Some(n) = pick(n) {
                    talk.fail(n, -32603);
                }
            }
            Step::Large(n) => {
                if let Some(n) = pick(n) {
                    talk.answer(n, &format!(r#"{{"text":"{}"}}"#, "x".repeat(5000)));
                }
            }
            Step::Log(n) => {
                if let Some(n) = pick(n) {
                    talk.log(Some(n));
                }
            }
            Step::Ask(n) => {
                // The table may be full.
                let _ = talk.ask(n.as_ref().and_then(pick));
            }
            Step::GiveUp(n) => {
                if let Some(question) = talk.questions().get(*n).copied() {
                    talk.server.cancel(question);
                }
            }
            Step::Change => talk.server.list_changed(ListKind::Tools),
            Step::Wait(millis) => {
                talk.wait(*millis);
            }
            Step::CancelAll => talk.server.cancel_all(),
        }
        let talk = site.session(0);
        talk.drain();
        heard.listen(talk);
    }
    let talk = site.session(0);
    for n in talk.live() {
        talk.answer(n, "{}");
    }
    talk.wait(1_000_000);
    heard.listen(talk);
    assert_eq!(talk.server.next_channel(), None);
    for (channel, ended) in heard.0 {
        assert_eq!(ended, channel != 0, "channel {channel}");
    }
    assert_eq!(talk.server.in_flight(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_exchange_ends_once(steps in prop::collection::vec(step(), 1..40)) {
        run("2025-03-26", &steps);
    }

    #[test]
    fn in_a_revision_without_arrays_too(steps in prop::collection::vec(step(), 1..40)) {
        run("2025-11-25", &steps);
    }
}
