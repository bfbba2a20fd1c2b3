//! Messages, as scripts write them: in short (see [`short`](super::short)) or in full.

use super::short::Short;

/// `_meta` of requests of 2026-07-28.
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// The notification that a client is ready.
pub(crate) const INITIALIZED: &str = "- notifications/initialized";

/// Returns a message in full.
pub(crate) fn message(text: &str) -> String {
    Short::parse(text).map_or_else(|| text.to_owned(), |short| short.in_full())
}

/// Returns a message of 2026-07-28 in full; a request or notification that was written in short gets `_meta`.
pub(crate) fn modern_message(text: &str) -> String {
    match Short::parse(text) {
        Some(short) if !["=", "!"].contains(&short.word) => {
            let rest = &with_meta(short.rest, META);
            Short { rest, ..short }.in_full()
        }
        _ => message(text),
    }
}

/// Returns a request of 2026-07-28 in full, of a client with these capabilities.
pub(crate) fn declaring(capabilities: &str, text: &str) -> String {
    modern_message(text).replace(
        r#"Capabilities":{}"#,
        &format!(r#"Capabilities":{capabilities}"#),
    )
}

/// Returns an array of these messages, as 2025-03-26 has it.
pub(crate) fn array(messages: &[impl AsRef<str>]) -> String {
    let messages: Vec<_> = messages.iter().map(|text| message(text.as_ref())).collect();
    format!("[{}]", messages.join(","))
}

/// Returns parameters with these members in `_meta`.
pub(crate) fn with_meta(params: &str, members: &str) -> String {
    if let Some((before, more)) = params.split_once(r#""_meta":{"#) {
        return format!(r#"{before}"_meta":{{{members},{more}"#);
    }
    let rest = match params {
        "" => "}",
        params => params.strip_prefix('{').expect("an object"),
    };
    let comma = if rest == "}" { "" } else { "," };
    format!(r#"{{"_meta":{{{members}}}{comma}{rest}"#)
}

/// Returns the first request of a legacy client, which has roots.
pub(crate) fn initialize(revision: &str) -> String {
    initialize_with(revision, r#"{"roots":{}}"#)
}

/// Returns the first request of a legacy client with these capabilities.
pub(crate) fn initialize_with(revision: &str, capabilities: &str) -> String {
    format!("0 initialize {}", opening(revision, capabilities))
}

/// Returns the parameters of the first request of a legacy client with these capabilities.
pub(crate) fn opening(revision: &str, capabilities: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"test","version":"1"}}}}"#
    )
}

/// Returns a call of a tool without arguments, whose progress has the token `id`.
pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{id} tools/call {{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":{id}}}}}"#
    )
}

/// Returns a call of a tool without arguments and without progress.
pub(crate) fn plain_call(id: u32, tool: &str) -> String {
    format!(r#"{id} tools/call {{"name":"{tool}","arguments":{{}}}}"#)
}

/// Returns the result of a tool that says this.
pub(crate) fn said(id: &str, text: &str) -> String {
    format!(r#"{id} = {{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// Returns the acknowledgement of this subscription to the list of tools.
pub(crate) fn acknowledged(id: &str) -> String {
    let meta = subscription(id);
    format!(
        r#"- notifications/subscriptions/acknowledged {{"notifications":{{"toolsListChanged":true}},{meta}}}"#
    )
}

/// Returns the notification of this subscription that the list of tools has changed.
pub(crate) fn tools_changed(id: &str) -> String {
    format!(
        "- notifications/tools/list_changed {{{}}}",
        subscription(id)
    )
}

fn subscription(id: &str) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#)
}

/// Returns the id of the first request in this text.
pub(crate) fn request_id(text: &str) -> &str {
    let (_, rest) = text.split_once(r#""id":"#).expect("a request");
    &rest[..rest.find([',', '}']).unwrap()]
}

/// Returns the notification that this request is cancelled.
pub(crate) fn cancelled(id: u32) -> String {
    format!(r#"- notifications/cancelled {{"requestId":{id}}}"#)
}
