//! Schemas of tools as the validator sees them: all are checked by it, and some are enforced by it as a whole.

use std::collections::HashSet;

use jsonschema::Draft;
use mcp_proto::json::Kind;
use serde_json::Value;

use super::error::SchemaError;
use super::formats::Enforcement;
use super::publish_error::PublishError;
use super::subschemas::subschemas;
use super::tool_schema::ToolSchema;
use super::validator::{SchemaLimits, Validator};
use super::value::value;
use crate::uri_template::percent;

/// Checks that the schema at `place` is one, of those that the validator does not compile.
pub(super) fn check(schema: &ToolSchema, place: &'static str) -> Result<(), PublishError> {
    let published = schema.publish().unwrap_or_default();
    let Ok(value) = value(published.as_raw(), usize::MAX) else {
        return Ok(());
    };
    jsonschema::meta::validate(&value).map_err(|error| PublishError::Refused {
        place,
        error: SchemaError::invalid(&error),
    })
}

/// Compiles the schema that stands at `place`. In contrast to a peer's, its formats are enforced.
pub(super) fn compile(schema: &ToolSchema, place: &'static str) -> Result<Validator, PublishError> {
    let refused = |error| PublishError::Refused { place, error };
    let published = schema.publish().unwrap_or_default();
    if published.as_raw().kind() != Kind::Object {
        return Err(PublishError::NotObject { place });
    }
    let limits = SchemaLimits::default();
    let value = Validator::read(published.as_raw(), &limits).map_err(refused)?;
    check_formats(&value, place)?;
    Validator::build(&value, limits, Some(true)).map_err(refused)
}

/// Finds a format that JSON Schema defines and that the validator does not know in the dialect of the schema.
fn check_formats(document: &Value, place: &str) -> Result<(), PublishError> {
    let (known, dialect) = (jsonschema::options(), Draft::default().detect(document));
    let mut referred = HashSet::new();
    let mut rest = vec![(place.to_owned(), document)];
    while let Some((place_of_schema, schema)) = rest.pop() {
        let Value::Object(schema) = schema else {
            continue;
        };
        let text = |keyword| schema.get(keyword).and_then(Value::as_str);
        if let Some(format) = text("format")
            && Enforcement::of(format) != Enforcement::Annotation
            && !known.is_known_format(dialect, format)
        {
            return Err(PublishError::unenforced("format", place_of_schema, None));
        }
        let inner = subschemas(schema).into_iter();
        rest.extend(inner.map(|(below, schema)| (format!("{place_of_schema}{below}"), schema)));
        // A reference makes a schema of any object of the document.
        if let Some(reference) = text("$ref").and_then(|reference| reference.strip_prefix('#'))
            && let Some(pointer) = percent::decode(reference)
            && referred.insert(pointer.clone())
        {
            let target = document.pointer(&pointer).into_iter();
            rest.extend(target.map(|target| (format!("{place}{pointer}"), target)));
        }
    }
    Ok(())
}
