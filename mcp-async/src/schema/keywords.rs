//! The meaning of the keywords of a schema.

use serde_json::{Map, Value};

use super::numbers;

/// Returns true if a bound is that of the type itself, so that decoding into the type enforces it.
pub(super) fn is_of_type(schema: &Map<String, Value>, keyword: &str, value: &Value) -> bool {
    let range = numbers::range(schema);
    match (keyword, range) {
        ("format", Some(_)) => true,
        ("minimum", Some((Some(least), _))) => value.as_i64() == Some(least),
        ("maximum", Some((_, Some(greatest)))) => value.as_i64() == Some(greatest),
        ("minItems" | "maxItems", _) => {
            let tuple = schema.get("prefixItems").and_then(Value::as_array);
            tuple.is_some_and(|tuple| value.as_u64() == Some(tuple.len() as u64))
                && schema.get("minItems") == schema.get("maxItems")
        }
        _ => false,
    }
}

pub(super) fn is_not_zero(schema: &Map<String, Value>, not: &Value) -> bool {
    numbers::range(schema).is_some() && *not == serde_json::json!({"const": 0})
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| {
        schema.len() == 1 && schema.get("type").is_some_and(|it| it == "null")
    })
}

/// Returns true if decoding into a type enforces the keyword, and the contents of its schemas
/// count.
pub(super) fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "required"
            | "properties"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "items"
            | "prefixItems"
            | "anyOf"
            | "oneOf"
            | "allOf"
            | "$defs"
            | "definitions"
    )
}

/// Returns true if the keyword asserts nothing of the value.
pub(super) fn is_annotation(
    keyword: &str,
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
) -> bool {
    match keyword {
        // An inner one changes what references mean.
        "$id" | "$schema" => core::ptr::eq(schema, root),
        _ => !ASSERTIONS.contains(&keyword),
    }
}

/// The keywords that say which values fit. JSON Schema takes all others for annotations.
const ASSERTIONS: [&str; 43] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "type",
    "enum",
    "const",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "contains",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "minProperties",
    "maxProperties",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
