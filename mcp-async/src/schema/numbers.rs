//! The formats that `schemars` gives numbers, which JSON Schema does not have.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value};

/// Replaces `uint8`, `double` and the like in a schema and in its subschemas by the bounds that
/// they stand for.
///
/// Types of 64 bits and more keep the bounds that the schema has: readers that take numbers as
/// doubles cannot represent their limits.
pub(super) fn without_formats(schema: &mut Schema) {
    RecursiveTransform(replace).transform(schema);
}

/// The least and the greatest value of the type whose format a schema names; `None` if it names
/// the format of no number. Decoding into the type enforces these bounds.
pub(super) fn range(schema: &Map<String, Value>) -> Option<(Option<i64>, Option<i64>)> {
    fn of<T: Into<i64>>(least: T, greatest: T) -> (Option<i64>, Option<i64>) {
        (Some(least.into()), Some(greatest.into()))
    }
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    let is_number = match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().any(is_number),
        kind => is_number(kind),
    };
    match schema.get("format")?.as_str().filter(|_| is_number)? {
        "int8" => Some(of(i8::MIN, i8::MAX)),
        "int16" => Some(of(i16::MIN, i16::MAX)),
        "int32" => Some(of(i32::MIN, i32::MAX)),
        "uint8" => Some(of(u8::MIN, u8::MAX)),
        "uint16" => Some(of(u16::MIN, u16::MAX)),
        "uint32" => Some(of(u32::MIN, u32::MAX)),
        "uint" | "uint64" | "uint128" => Some((Some(0), None)),
        "int" | "int64" | "int128" | "float" | "double" => Some((None, None)),
        _ => None,
    }
}

fn replace(schema: &mut Schema) {
    let Some((least, greatest)) = schema.as_object().and_then(range) else {
        return;
    };
    schema.remove("format");
    for (keyword, bound) in [("minimum", least), ("maximum", greatest)] {
        if let Some(bound) = bound
            && schema.get(keyword).is_none()
        {
            schema.insert(keyword.to_owned(), bound.into());
        }
    }
}
