//! A schema of a tool, and its origin.

use mcp_proto::json::{Kind, MAX_DEPTH, Raw, RawBuf};
use schemars::Schema;
use serde_json::{Map, Value};

use super::numbers;
use super::type_error::TypeError;

/// The schema of a tool's arguments or of its structured content, and where it comes from.
///
/// Whatever a schema says has to be enforced, or the tool is not registered. Decoding into a type
/// enforces most of what the schema of the type says, but nothing of a schema that was written by
/// hand.
#[derive(Clone, Debug)]
pub struct ToolSchema(pub(super) Origin);

#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A type, with the formats that `schemars` gives numbers.
    Type(Map<String, Value>),
    /// A person, or another server.
    Text(RawBuf),
}

impl ToolSchema {
    /// Returns the schema as a tool lists it.
    ///
    /// # Errors
    ///
    /// [`TypeError::Deep`], if it is nested too deeply to be sent.
    pub fn publish(&self) -> Result<RawBuf, TypeError> {
        let schema = match &self.0 {
            Origin::Text(text) => return Ok(text.clone()),
            Origin::Type(schema) => {
                let mut schema = Schema::from(schema.clone());
                numbers::without_formats(&mut schema);
                schema.to_value()
            }
        };
        let text = serde_json::to_vec(&schema).unwrap_or_default();
        match Raw::parse(&text, MAX_DEPTH) {
            Ok(raw) if raw.kind() == Kind::Object => Ok(raw.into()),
            _ => Err(TypeError::Deep),
        }
    }
}

/// A schema that was written by hand, or that another server lists.
impl From<RawBuf> for ToolSchema {
    fn from(schema: RawBuf) -> Self {
        Self(Origin::Text(schema))
    }
}
