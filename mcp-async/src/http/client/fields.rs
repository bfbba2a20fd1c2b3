//! The fields of requests, whose names and fixed values are not read anew for each.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The number of fields that a request has room for: those of a call, and those that the HTTP client and a proxy add.
pub(super) const USUAL: usize = 12;

/// Adds a field, unless its name or its value is not valid in a head.
pub(super) fn insert(fields: &mut HeaderMap, name: &str, value: &[u8]) {
    let known = match name {
        "content-type" => CONTENT_TYPE,
        "accept" => ACCEPT,
        "last-event-id" => LAST_EVENT_ID,
        "mcp-method" => METHOD,
        "mcp-name" => NAME,
        "mcp-protocol-version" => VERSION,
        "mcp-session-id" => SESSION,
        other => match HeaderName::try_from(other) {
            Ok(name) => name,
            Err(_) => return,
        },
    };
    let fixed = [JSON, JSON_OR_EVENTS]
        .into_iter()
        .find(|fixed| fixed.as_bytes() == value);
    let value = match fixed {
        Some(fixed) => Ok(HeaderValue::from_static(fixed)),
        None => HeaderValue::from_bytes(value),
    };
    if let Ok(value) = value {
        fields.insert(known, value);
    }
}

const JSON: &str = "application/json";
const JSON_OR_EVENTS: &str = "application/json, text/event-stream";
