//! The subschemas of a schema.

use serde_json::{Map, Value};

/// Lists the schemas that stand directly in a schema, each with its place below it as a JSON
/// Pointer.
pub(super) fn subschemas(schema: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf" | "items" | "prefixItems", Value::Array(list)) => {
                let places = (0..).map(|index: usize| format!("/{keyword}/{index}"));
                found.extend(places.zip(list));
            }
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs"
                | "definitions",
                Value::Object(named),
            ) => {
                let of = |name: &String| format!("/{keyword}/{}", escaped(name));
                found.extend(named.iter().map(|(name, schema)| (of(name), schema)));
            }
            (
                "not"
                | "if"
                | "then"
                | "else"
                | "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames",
                schema,
            ) => found.push((format!("/{keyword}"), schema)),
            _ => {}
        }
    }
    found
}

/// The name of a member as a segment of a JSON Pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
