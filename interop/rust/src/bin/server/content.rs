//! Content blocks, schemas, plain text and results.

use interop_rust::of;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

pub(crate) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

pub(crate) fn embedded(uri: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "embedded"}})
}

pub(crate) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

/// A result as the SDK's own constructors make it: it takes `resultType` away for the earlier revisions.
pub(crate) fn complete<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = json!("complete");
    of(result)
}

pub(crate) fn schema(properties: &[(&str, &str)]) -> Value {
    let kinds: Map<_, _> = properties
        .iter()
        .map(|(name, kind)| (name.to_string(), json!({"type": kind})))
        .collect();
    let required: Vec<_> = properties.iter().map(|(name, _)| name).collect();
    json!({"type": "object", "properties": kinds, "required": required})
}

pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
