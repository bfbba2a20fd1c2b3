//! Bodies of requests, and messages in short.

use mcp_proto::json::Raw;

pub(crate) use crate::script::messages::{INITIALIZED, initialize, notification, raw, request};

/// A call of a tool; `wait` is not answered at once.
pub(crate) fn call(id: &str, tool: &str) -> String {
    request(id, "tools/call", &format!(r#""name":"{tool}""#))
}

pub(crate) fn response(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#)
}

/// `params` of a request of 2026-07-28, with these members in front of `_meta`.
pub(crate) fn modern(members: &str) -> String {
    versioned(members, "2026-07-28")
}

pub(crate) fn versioned(members: &str, version: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(
        r#"{members}{comma}"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    )
}

/// A message, or an array of them, in short.
pub(crate) fn short_text(text: &str) -> String {
    let raw = Raw::parse(text.as_bytes(), 32).expect("what is written is JSON");
    match raw.array() {
        Some(array) => {
            let words: Vec<String> = array.elements().map(short).collect();
            format!("[{}]", words.join(" "))
        }
        None => short(raw),
    }
}

fn short(message: Raw<'_>) -> String {
    let object = message.object().unwrap();
    if let Some(error) = object.get("error") {
        let error = error.object().unwrap();
        return error.get("code").unwrap().as_str().into();
    }
    match object.get("method").and_then(Raw::string) {
        Some(method) => method.to_string(),
        None => "result".into(),
    }
}
