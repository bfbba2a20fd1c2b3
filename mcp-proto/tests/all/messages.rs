//! Messages beside a reader that builds a tree and looks at it.

use core::fmt;

use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, Reason, Shape, code};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// An object with all of its members, doubled ones too.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl Members {
    fn all(&self, name: &str) -> Vec<&Value> {
        let named = self.0.iter().filter(|member| member.0 == name);
        named.map(|member| &member.1).collect()
    }

    fn one(&self, name: &str) -> Option<&Value> {
        self.all(name).first().copied()
    }

    fn has(&self, name: &str) -> bool {
        self.one(name).is_some()
    }

    fn id(&self) -> Option<&Value> {
        match self.all("id").as_slice() {
            [id @ Value::String(_)] => Some(id),
            [id] if id.is_i64() || id.is_u64() => Some(id),
            _ => None,
        }
    }
}

/// What kind of message a text is, its id, and for an invalid one what could be told of it.
#[derive(Debug, PartialEq)]
enum Told {
    Request(Value),
    Notification,
    Result(Value),
    Error(Option<Value>),
    Invalid {
        code: i64,
        id: Option<Value>,
        answerable: bool,
    },
}

fn ours(text: &[u8]) -> Told {
    let value =
        |id: mcp_proto::rpc::Id<'_>| serde_json::from_str(&json(id)).expect("an id is JSON");
    match Message::parse(text, MAX_DEPTH) {
        Message::Request(request) => Told::Request(value(request.id)),
        Message::Notification(_) => Told::Notification,
        Message::Response(response) => match (response.outcome, response.id) {
            (Ok(_), Some(id)) => Told::Result(value(id)),
            (Ok(_), None) => panic!("a result has an id"),
            (Err(_), id) => Told::Error(id.map(value)),
        },
        Message::Invalid(invalid) => Told::Invalid {
            code: invalid.reason.code(),
            id: invalid.id.map(value),
            answerable: invalid.shape.is_answerable(),
        },
    }
}

/// The id as a peer would see it: in an answer.
fn json(id: mcp_proto::rpc::Id<'_>) -> String {
    let null = mcp_proto::json::Raw::NULL;
    let answer = Message::Response(mcp_proto::rpc::Response::new(Some(id), Ok(null)));
    let mut out = vec![0; 4096];
    let len = answer.encode(&mut out).expect("it is short");
    let text = core::str::from_utf8(&out[..len]).expect("it is text");
    let text = text
        .strip_prefix(r#"{"jsonrpc":"2.0","id":"#)
        .expect("it begins so");
    text.strip_suffix(r#","result":null}"#)
        .expect("it ends so")
        .to_owned()
}

fn theirs(text: &[u8]) -> Told {
    let invalid = |code, id: Option<&Value>, answerable| Told::Invalid {
        code,
        id: id.cloned(),
        answerable,
    };
    let Ok(tree) = serde_json::from_slice::<Value>(text) else {
        return invalid(code::PARSE_ERROR, None, true);
    };
    if !tree.is_object() {
        return invalid(code::INVALID_REQUEST, None, true);
    }
    let members: Members = serde_json::from_slice(text).expect("it is an object");
    let method = members.one("method");
    let names = ["jsonrpc", "id", "method", "params", "result", "error"];
    let single = names.iter().all(|name| members.all(name).len() < 2);
    let right = single && members.one("jsonrpc") == Some(&Value::from("2.0"));
    let outcome = members.has("result") || members.has("error");
    // The last of doubled members tells the shape, as it does in a map.
    let named = members
        .all("method")
        .last()
        .is_some_and(|method| method.is_string());
    let answerable = match (members.has("id"), method.is_some()) {
        (false, true) => !named,
        (_, false) => !outcome,
        (true, true) => true,
    };
    let refuse = || invalid(code::INVALID_REQUEST, members.id(), answerable);
    if !right {
        return refuse();
    }
    let object = |name: &str| members.one(name).is_none_or(Value::is_object);
    match (method, members.one("result"), members.one("error")) {
        (Some(method), None, None) if method.is_string() && object("params") => {
            match (members.id(), members.has("id")) {
                (Some(id), _) => Told::Request(id.clone()),
                (None, false) => Told::Notification,
                (None, true) => refuse(),
            }
        }
        (None, Some(_), None) => match members.id() {
            Some(id) => Told::Result(id.clone()),
            None => refuse(),
        },
        (None, None, Some(error)) => {
            let fine = error.get("code").is_some_and(Value::is_i64)
                && error.get("message").is_some_and(Value::is_string);
            match (members.id(), members.one("id")) {
                (Some(id), _) if fine => Told::Error(Some(id.clone())),
                (None, None | Some(Value::Null)) if fine => Told::Error(None),
                _ => refuse(),
            }
        }
        _ => refuse(),
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#""2.0""#.to_owned()),
        Just(r#""2\u002e0""#.to_owned()),
        Just(r#""tools\/call""#.to_owned()),
        Just(r#""a name that is longer than two words""#.to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        Just("0".to_owned()),
        Just("1.5".to_owned()),
        Just("-1e3".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("{}".to_owned()),
        Just(r#"{"name":"x","id":[1,{"id":2}]}"#.to_owned()),
        Just(r#"{"code":-32601,"message":"no","data":null}"#.to_owned()),
        Just(r#"{"code":1.5,"message":"no"}"#.to_owned()),
        Just("[1, 2]".to_owned()),
        ".{0,12}".prop_map(|text| serde_json::to_string(&text).expect("text is JSON")),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just(r#""id""#),
        4 => Just(r#""method""#),
        2 => Just(r#""params""#),
        2 => Just(r#""result""#),
        2 => Just(r#""error""#),
        1 => Just(r#""i\u0064""#),
        1 => Just(r#""\u006dethod""#),
        1 => Just(r#""jsonrpc""#),
        1 => Just(r#""Id""#),
        1 => Just(r#""other""#),
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\t\r\n ")]
}

/// An object with a right `jsonrpc` most of the time, and other members at random.
fn object() -> impl Strategy<Value = String> {
    let member = (space(), name(), space(), space(), value(), space())
        .prop_map(|(a, name, b, c, value, d)| format!("{a}{name}{b}:{c}{value}{d}"));
    let right =
        prop_oneof![5 => Just(r#""jsonrpc":"2.0""#), 1 => Just(r#""jsonrpc":2.0"#), 1 => Just("")];
    (
        proptest::collection::vec(member, 0..5),
        right,
        any::<prop::sample::Index>(),
    )
        .prop_map(|(mut members, right, place)| {
            if !right.is_empty() {
                members.insert(place.index(members.len() + 1), right.to_owned());
            }
            format!("{{{}}}", members.join(","))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn objects_are_told_alike(text in object()) {
        prop_assert_eq!(ours(text.as_bytes()), theirs(text.as_bytes()), "{}", text);
    }

    /// A byte changed or cut off: both take it or both do not; ours may know more of it.
    #[test]
    fn damage_is_seen(text in object(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut changed = text.clone().into_bytes();
        let at = at.index(changed.len());
        changed[at] = byte;
        for text in [changed.as_slice(), &text.as_bytes()[..at]] {
            // A tree has no place for every number of the grammar, such as `-1E309`, and keeps an
            // integer beyond 64 bits as if it had been written with an exponent.
            let grammar = core::str::from_utf8(text).is_ok()
                && serde_json::from_slice::<IgnoredAny>(text).is_ok();
            let long = text.split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > 18);
            if grammar && (long || serde_json::from_slice::<Value>(text).is_err()) {
                let broken = matches!(ours(text), Told::Invalid { code: code::PARSE_ERROR, .. });
                prop_assert!(!broken, "{:?}", text);
                continue;
            }
            match (ours(text), theirs(text)) {
                (Told::Invalid { code: code::PARSE_ERROR, .. }, theirs) => {
                    let broken = Told::Invalid { code: code::PARSE_ERROR, id: None, answerable: true };
                    prop_assert_eq!(theirs, broken);
                }
                (ours, theirs) => prop_assert_eq!(ours, theirs),
            }
        }
    }

    /// What is cut off behind the id leaves it readable, wherever the rest breaks.
    #[test]
    fn an_id_survives_the_loss_of_the_rest(id in any::<u32>(), keep in 0usize..60) {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let rest = r#""method":"tools/call","params":{"name":"é\"x","arguments":[]}"#.as_bytes();
        let text = [start.as_bytes(), &rest[..keep]].concat();
        let Message::Invalid(invalid) = Message::parse(&text, MAX_DEPTH) else {
            return Err(TestCaseError::fail("it is incomplete"));
        };
        prop_assert!(matches!(invalid.reason, Reason::Json(_)));
        prop_assert_eq!(invalid.id.map(|id| id.to_string()), Some(id.to_string()));
        prop_assert_eq!(invalid.shape == Shape::Request, keep > r#""method":"#.len() - 1);
    }

    /// Anything that is a message is written so that it reads the same.
    #[test]
    fn what_is_written_reads_the_same(text in object()) {
        let message = Message::parse(text.as_bytes(), MAX_DEPTH);
        if !matches!(message, Message::Invalid(_)) {
            let mut out = vec![0; text.len() + 16];
            let len = message.encode(&mut out).unwrap();
            prop_assert!(!out[..len].contains(&b'\n'));
            prop_assert_eq!(ours(&out[..len]), ours(text.as_bytes()));
        }
    }
}
