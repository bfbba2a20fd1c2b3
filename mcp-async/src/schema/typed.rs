//! Schemas of a tool's arguments and of its structured content, from types.

use mcp_proto::json::RawBuf;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::tool_schema::{Origin, ToolSchema};
use super::type_error::TypeError;

/// The schema of a tool's arguments, in the dialect 2020-12: its root is an object.
///
/// A type without fields is described as what takes no arguments. The name of the type is no
/// title: it means nothing to a peer, and every model that reads the list pays for it.
///
/// # Errors
///
/// [`TypeError`], if `T` is no object: arguments have names.
///
/// ```
/// use mcp_async::schema;
///
/// #[derive(schemars::JsonSchema)]
/// struct Nothing {}
///
/// let none = r#"{"type":"object","additionalProperties":false}"#;
/// assert_eq!(schema::input::<Nothing>()?.as_raw().as_str(), none);
///
/// #[derive(schemars::JsonSchema)]
/// struct Forecast {
///     city: String,
/// }
///
/// let schema = schema::input::<Forecast>()?;
/// let root = schema.as_raw().object().unwrap();
/// assert_eq!(root.get("type").unwrap().as_str(), "\"object\"");
/// assert_eq!(root.get("required").unwrap().as_str(), "[\"city\"]");
///
/// assert!(schema::input::<Vec<String>>().is_err());
/// # Ok::<(), schema::TypeError>(())
/// ```
pub fn input<T: JsonSchema>() -> Result<RawBuf, TypeError> {
    ToolSchema::input::<T>()?.publish()
}

/// The schema of a tool's structured content, in the dialect 2020-12.
///
/// Its root may be of any type. If every value is an object it states that, because revisions
/// before 2026-07-28 know no other structured content.
///
/// # Errors
///
/// [`TypeError`], if the schema is nested too deeply to be sent.
pub fn output<T: JsonSchema>() -> Result<RawBuf, TypeError> {
    ToolSchema::output::<T>()?.publish()
}

impl ToolSchema {
    /// Makes the schema of a tool's arguments from their type; see [`input`].
    ///
    /// # Errors
    ///
    /// [`TypeError::NotObject`], if `T` is not an object: arguments have names.
    pub fn input<T: JsonSchema>() -> Result<Self, TypeError> {
        let mut schema = root::<T>(SchemaSettings::draft2020_12().for_deserialize());
        if is_empty(&schema) {
            let schema = RawBuf::parse(NO_ARGUMENTS).map_err(|_| TypeError::Deep)?;
            return Ok(schema.into());
        }
        if Objects::of(&schema, &schema, 0) == Objects::None {
            return Err(TypeError::NotObject);
        }
        schema.insert("type".to_owned(), "object".into());
        Ok(Self(Origin::Type(schema)))
    }

    /// Makes the schema of a tool's structured content from its type; see [`output`].
    ///
    /// # Errors
    ///
    /// [`TypeError`], if there is no such schema.
    pub fn output<T: JsonSchema>() -> Result<Self, TypeError> {
        let mut schema = root::<T>(SchemaSettings::draft2020_12().for_serialize());
        if Objects::of(&schema, &schema, 0) == Objects::All {
            schema.insert("type".to_owned(), "object".into());
        }
        Ok(Self(Origin::Type(schema)))
    }
}

fn root<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        // `true` and `false`; schemars writes roots as objects.
        Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
        _ => Map::new(),
    };
    if schema
        .get("title")
        .is_some_and(|title| *title == *T::schema_name())
    {
        schema.remove("title");
    }
    schema
}

/// Returns true if the schema is that of a struct without fields.
fn is_empty(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
        && schema.iter().all(|(name, value)| match name.as_str() {
            "$schema" | "title" | "description" | "type" => true,
            "properties" => value.as_object().is_some_and(Map::is_empty),
            "additionalProperties" => *value == false,
            _ => false,
        })
}

/// The schema of what takes no arguments (TL-06).
const NO_ARGUMENTS: &str = r#"{"type":"object","additionalProperties":false}"#;

/// The share of objects among the values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Objects {
    All,
    Some,
    None,
}

impl Objects {
    /// `depth` bounds the walk through types that mention themselves.
    fn of(schema: &Map<String, Value>, root: &Map<String, Value>, depth: usize) -> Self {
        if depth > 16 {
            return Self::Some;
        }
        let of = |schema: &Value| match schema {
            Value::Object(schema) => Self::of(schema, root, depth + 1),
            Value::Bool(false) => Self::None,
            _ => Self::Some,
        };
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => return Self::All,
            Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "object") => {
                return if kinds.len() == 1 {
                    Self::All
                } else {
                    Self::Some
                };
            }
            Some(_) => return Self::None,
            None => {}
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let name = reference.strip_prefix("#/$defs/");
            return match name.and_then(|name| root.get("$defs")?.get(name)) {
                Some(definition) => of(definition),
                None => Self::Some,
            };
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(arms)) = schema.get(keyword) {
                return arms.iter().map(of).reduce(Self::or).unwrap_or(Self::None);
            }
        }
        let constant = schema.get("const").into_iter();
        let values = schema
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        constant
            .chain(values)
            .map(|value| {
                if value.is_object() {
                    Self::All
                } else {
                    Self::None
                }
            })
            .reduce(Self::or)
            .unwrap_or(Self::Some)
    }

    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Some }
    }
}
