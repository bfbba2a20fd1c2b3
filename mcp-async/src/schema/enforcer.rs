//! Enforces the complete schema of a tool.

use mcp_proto::json::{Kind, Raw};
use serde_json::Value;

use super::error::Violation;
use super::formats::Enforcement;
use super::limits::SchemaLimits;
use super::publish_error::PublishError;
use super::subschemas::subschemas;
use super::tool_schema::ToolSchema;
use super::validator::Validator;

/// A schema of a tool, compiled. In contrast to a peer's, its formats are enforced.
pub(crate) struct Enforcer(Validator);

impl Enforcer {
    /// Compiles the schema that stands at `place`.
    pub(crate) fn of(
        schema: &ToolSchema,
        place: &'static str,
    ) -> Result<Option<Self>, PublishError> {
        let refused = |error| PublishError::Refused { place, error };
        let published = schema.publish().unwrap_or_default();
        if published.as_raw().kind() != Kind::Object {
            return Err(PublishError::NotObject { place });
        }
        let limits = SchemaLimits::default();
        let value = Validator::read(published.as_raw(), &limits).map_err(refused)?;
        check_formats(&value, place)?;
        let validator = Validator::build(&value, limits, Some(true)).map_err(refused)?;
        Ok(Some(Self(validator)))
    }

    pub(crate) fn check(&self, value: Raw<'_>) -> Result<(), Violation> {
        self.0.check(value)
    }
}

/// Finds a format that the validator does not know, although JSON Schema defines it.
fn check_formats(schema: &Value, place: &str) -> Result<(), PublishError> {
    let mut rest = vec![(place.to_owned(), schema)];
    while let Some((place, schema)) = rest.pop() {
        let Value::Object(schema) = schema else {
            continue;
        };
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(|format| Enforcement::of(format) == Enforcement::Never) {
            return Err(PublishError::unenforced("format", place, None));
        }
        let inner = subschemas(schema).into_iter();
        rest.extend(inner.map(|(below, schema)| (format!("{place}{below}"), schema)));
    }
    Ok(())
}
