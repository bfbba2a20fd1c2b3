//! What both programs do to the SDK's types: write and read them as JSON, with bytes in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("the SDK's types are JSON")
}

pub fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the SDK reads what the specification says")
}

/// The bytes of a string in base64; no bytes if it is not one.
pub fn decoded(text: &Value) -> Vec<u8> {
    STANDARD
        .decode(text.as_str().unwrap_or_default())
        .unwrap_or_default()
}
