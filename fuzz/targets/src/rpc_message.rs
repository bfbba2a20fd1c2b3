//! One message from arbitrary bytes.

use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::{Id, Message, Reason, code};
use serde_json::Value;

/// Parsing is total, agrees with a reader that is slow and simple, and what was read can be written
/// and read again.
pub fn rpc_message(text: &[u8]) {
    let message = Message::parse(text, MAX_DEPTH);
    let json = Raw::parse(text, MAX_DEPTH);
    if let Message::Invalid(invalid) = message {
        assert_eq!(matches!(invalid.reason, Reason::Json(_)), json.is_err());
        assert_eq!(invalid.reason.code() == code::PARSE_ERROR, json.is_err());
        assert!(!invalid.reason.message().is_empty());
        assert_eq!(
            message.encode(&mut []),
            Ok(0),
            "what is no message is never written"
        );
        return;
    }
    // Of doubled members outside the envelope `Value` keeps one, which is enough for this.
    let raw = json.expect("a message is JSON");
    if let Ok(value) = serde_json::from_slice::<Value>(raw.as_bytes()) {
        agrees(&message, &value);
    }
    survives(&message);
}

/// The members that a message needs, by a reader that has the whole tree.
fn agrees(message: &Message<'_>, value: &Value) {
    assert_eq!(value["jsonrpc"], "2.0");
    let has = |member: &str| value.get(member).is_some();
    match message {
        Message::Request(request) => {
            assert!(has("method") && !has("result") && !has("error"));
            same_id(request.id, &value["id"]);
            assert_eq!(
                request.method.name().to_cow(),
                value["method"].as_str().unwrap()
            );
            assert_eq!(request.params.is_some(), has("params"));
        }
        Message::Notification(notification) => {
            assert!(!has("id") && !has("result") && !has("error"));
            assert_eq!(
                notification.method.name().to_cow(),
                value["method"].as_str().unwrap()
            );
            assert_eq!(notification.params.is_some(), has("params"));
        }
        Message::Response(response) => {
            assert!(!has("method") && has("result") != has("error"));
            assert_eq!(response.outcome.is_ok(), has("result"));
            match response.id {
                Some(id) => same_id(id, &value["id"]),
                None => assert!(value["id"].is_null() && response.outcome.is_err()),
            }
        }
        Message::Invalid(_) => unreachable!("handled before"),
    }
}

fn same_id(id: Id<'_>, value: &Value) {
    match id {
        Id::Number(_) => assert!(value.is_number()),
        Id::String(text) => assert_eq!(text.to_cow(), value.as_str().unwrap()),
    }
}

/// Written into a buffer that is just large enough, and not into one that is a byte shorter.
fn survives(message: &Message<'_>) {
    let needed = message
        .encode(&mut [])
        .expect_err("a message is never empty")
        .needed;
    let mut out = vec![0; needed];
    assert_eq!(
        message.encode(&mut out[..needed - 1]).unwrap_err().needed,
        needed
    );
    assert_eq!(message.encode(&mut out), Ok(needed));
    assert!(!out.contains(&b'\n'));
    let again = Message::parse(&out, MAX_DEPTH);
    let mut twice = vec![0; needed];
    assert_eq!(again.encode(&mut twice), Ok(needed), "{again:?}");
    assert_eq!(out, twice);
}
