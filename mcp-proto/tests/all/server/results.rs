//! Results as types, which the machine completes as it completes their JSON.

use mcp_proto::json::{EncodeError, Raw, Writer};
use mcp_proto::model::{CallToolResult, Content, ListToolsResult, TextContent, TextResult};
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::{Event, Fixed, Server};
use mcp_proto::{Action, Instant, Machine, Outcome, Payload, Pipe, Revision, SendError};
use serde::Serialize;

use crate::script::server::{config, modern};

/// The answer with this result, in a buffer that is long enough and in each that is not.
fn answered(result: &dyn Payload) -> String {
    let mut server = Server::new(config(), Fixed::new().uris::<64>()).unwrap();
    let request = modern("1", "tools/list", "", "{}");
    let message = Incoming::Message(Message::parse(request.as_bytes(), 16));
    let Action::Event(Event::Request { token, .. }) = server.handle(Instant::ZERO, &Pipe, message)
    else {
        panic!("{request}")
    };
    let mut needs = Vec::new();
    for size in 0.. {
        let mut out = vec![0; size];
        match server.respond(token, Outcome::Result(result), &mut out) {
            Ok(sent) => {
                assert!(needs.iter().all(|needed| *needed == sent.len), "{needs:?}");
                assert_eq!(size, sent.len);
                return String::from_utf8(out).unwrap();
            }
            Err(SendError::BufferFull { needed }) => needs.push(needed),
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!("a buffer is long enough at some time")
}

/// The type is answered like its JSON.
#[track_caller]
fn check(result: &dyn Payload) {
    let mut text = vec![0; 4096];
    let mut writer = Writer::new(&mut text);
    result.write(&mut writer, Revision::V2026_07_28).unwrap();
    let len = writer.finish().unwrap();
    let raw = Raw::parse(&text[..len], 16).unwrap();
    assert_eq!(answered(result), answered(&raw));
}

#[test]
fn types_of_the_model() {
    assert_eq!(answered(&()), answered(&Raw::EMPTY_OBJECT));
    check(&ListToolsResult::default());
    check(&TextResult::from("a"));
    let text = TextContent {
        text: "a \"_meta\" in a text".into(),
        ..TextContent::default()
    };
    check(&CallToolResult {
        content: (&[Content::Text(text)]).into(),
        ..CallToolResult::default()
    });
}

#[derive(Serialize)]
struct Reserved<'a> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a [(&'a str, u8)]>,
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(rename = "ttlMs", skip_serializing_if = "Option::is_none")]
    ttl: Option<u8>,
    value: u8,
}

impl Reserved<'_> {
    const NONE: Self = Self {
        meta: None,
        kind: None,
        ttl: None,
        value: 1,
    };
}

#[derive(Serialize)]
struct Meta {
    a: u8,
}

#[derive(Serialize)]
struct WithMeta {
    #[serde(rename = "_meta")]
    meta: Meta,
    value: u8,
}

#[test]
fn members_that_are_there_stay() {
    check(&Reserved::NONE);
    check(&Reserved {
        kind: Some("odd"),
        ..Reserved::NONE
    });
    check(&Reserved {
        kind: Some("odd"),
        ttl: Some(9),
        ..Reserved::NONE
    });
    check(&WithMeta {
        meta: Meta { a: 1 },
        value: 2,
    });
}

#[derive(Serialize)]
struct Wrapper<T>(T);

#[derive(Serialize)]
struct Flat<T> {
    #[serde(flatten)]
    inner: T,
    value: u8,
}

#[derive(Serialize)]
struct Nested<T> {
    inner: T,
}

#[derive(Serialize)]
enum Variant {
    Inner {
        #[serde(rename = "resultType")]
        kind: u8,
    },
}

#[test]
fn structs_in_other_forms() {
    let with_meta = || WithMeta {
        meta: Meta { a: 1 },
        value: 2,
    };
    check(&Wrapper(with_meta()));
    check(&Some(Reserved::NONE));
    check(&Flat {
        inner: with_meta(),
        value: 3,
    });
    check(&Nested { inner: with_meta() });
    check(&Variant::Inner { kind: 1 });
    check(&std::collections::BTreeMap::from([("resultType", "odd")]));
}

/// Writes a struct as a part of what it writes.
struct Around(&'static str, &'static str);

impl Payload for Around {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        writer.literal(self.0);
        writer.value(&Reserved::NONE, Some(revision))?;
        writer.literal(self.1);
        Ok(())
    }
}

#[test]
fn structs_inside_of_other_text() {
    check(&Around(r#"{"a":"#, "}"));
    check(&Around(r#"{"resultType":"odd","a":"#, "}"));
    check(&Around(r#"{"a":"#, r#","_meta":{"b":1}}"#));
}
