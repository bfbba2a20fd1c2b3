//! Messages of clients, and JSON of the tests' own.

use mcp_proto::json::Raw;

pub(crate) use super::short::{METHOD_NOT_FOUND, REQUEST_CANCELLED};

/// The lines that open a session.
pub(crate) fn initialize(version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A request; `params` without its braces.
pub(crate) fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// A request of 2026-07-28 by a client that can do this; `params` without its braces.
pub(crate) fn modern(id: &str, method: &str, params: &str, capabilities: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    request(
        id,
        method,
        &format!(
            r#"{params}{comma}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#
        ),
    )
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn cancelled(id: &str) -> String {
    notification("notifications/cancelled", &format!(r#""requestId":{id}"#))
}

pub(crate) fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

pub(crate) fn raw(json: &str) -> Raw<'_> {
    Raw::parse(json.as_bytes(), 64).unwrap()
}
