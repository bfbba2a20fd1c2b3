//! What both programs do to the SDK's types: write and read them as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("the SDK's types are JSON")
}

pub fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the SDK reads what the specification says")
}
