//! One field of a form, from its schema.

use core::mem;

use serde::Serialize;
use serde_json::{Map, Value};

use super::form_error::FormFault;

/// Reads the schema of a field and keeps what a form can say.
pub(super) fn field(schema: &Value) -> Result<Field, FormFault> {
    let schema = schema.as_object().ok_or(FormFault::Several)?;
    let schema = without_null(schema.clone());
    if let Some(keyword) = schema.keys().find(|name| is_foreign(name)) {
        return Err(FormFault::Keyword(keyword.clone()));
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(_) => return Err(FormFault::Several),
        None => None,
    };
    let choices = choices(&schema);
    let mut field = Field {
        title: text(&schema, "title"),
        description: text(&schema, "description"),
        default: schema
            .get("default")
            .filter(|default| !default.is_null())
            .cloned(),
        ..Field::default()
    };
    match (kind, choices) {
        (Some("string") | None, Some(choices)) => {
            field.kind = "string";
            match choices.titled() {
                Some(titled) => field.one_of = Some(titled),
                None => field.values = Some(choices.values()),
            }
        }
        (Some("string"), None) => {
            field.kind = "string";
            field.min_length = schema.get("minLength").cloned();
            field.max_length = schema.get("maxLength").cloned();
            field.format =
                text(&schema, "format").filter(|format| FORMATS.contains(&format.as_str()));
        }
        (Some(kind @ ("integer" | "number")), None) => {
            field.kind = if kind == "integer" {
                "integer"
            } else {
                "number"
            };
            field.minimum = schema.get("minimum").cloned();
            field.maximum = schema.get("maximum").cloned();
        }
        (Some("boolean"), None) => field.kind = "boolean",
        (Some("array"), _) => {
            let items = schema.get("items").and_then(Value::as_object);
            let choices = items.and_then(self::choices).ok_or(FormFault::List)?;
            field.kind = "array";
            field.items = Some(match choices.titled() {
                Some(titled) => Items::Titled { any_of: titled },
                None => Items::Untitled {
                    kind: "string",
                    values: choices.values(),
                },
            });
            field.min_items = schema.get("minItems").cloned();
            field.max_items = schema.get("maxItems").cloned();
        }
        (Some("object"), _) => return Err(FormFault::Object),
        (Some(kind), _) => return Err(FormFault::Type(kind.to_owned())),
        (None, None) => return Err(FormFault::Several),
    }
    Ok(field)
}

/// A field as it is written.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Field {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<Value>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Titled>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Items>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
}

/// The schema of the elements of a list.
#[derive(Serialize)]
#[serde(untagged)]
enum Items {
    Titled {
        #[serde(rename = "anyOf")]
        any_of: Vec<Titled>,
    },
    Untitled {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(rename = "enum")]
        values: Vec<String>,
    },
}

/// A value, and what to show for it.
#[derive(Serialize)]
struct Titled {
    #[serde(rename = "const")]
    value: String,
    title: String,
}

/// The values to choose from, and the titles of some of them.
struct Choices(Vec<(String, Option<String>)>);

impl Choices {
    /// All with something to show, if there is something to show for any.
    fn titled(&self) -> Option<Vec<Titled>> {
        self.0.iter().any(|(_, title)| title.is_some()).then(|| {
            let titled = self.0.iter().map(|(value, title)| Titled {
                value: value.clone(),
                title: title.as_ref().unwrap_or(value).clone(),
            });
            titled.collect()
        })
    }

    fn values(&self) -> Vec<String> {
        self.0.iter().map(|(value, _)| value.clone()).collect()
    }
}

/// The choices of a schema that allows certain texts only: an enum of unit variants.
fn choices(schema: &Map<String, Value>) -> Option<Choices> {
    let untitled = |value: &Value| Some((value.as_str()?.to_owned(), None));
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values
            .iter()
            .map(untitled)
            .collect::<Option<_>>()
            .map(Choices);
    }
    if let Some(value) = schema.get("const") {
        return Some(Choices(vec![untitled(value)?]));
    }
    let arms = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let arms = arms.as_array()?;
    let mut all = Vec::with_capacity(arms.len());
    for arm in arms {
        let arm = arm.as_object()?;
        if arm.get("type").is_some_and(|kind| kind != "string") {
            return None;
        }
        match (arm.get("const"), arm.get("enum")) {
            (Some(Value::String(value)), None) => {
                let title = text(arm, "title").or_else(|| text(arm, "description"));
                all.push((value.clone(), title));
            }
            (None, Some(Value::Array(values))) => {
                for value in values {
                    all.push(untitled(value)?);
                }
            }
            _ => return None,
        }
    }
    Some(Choices(all))
}

/// Returns the schema of an `Option` without `null`: the schema of a field that is filled in.
fn without_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_mut_slice() {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(arms)) = schema.get_mut("anyOf") else {
        return schema;
    };
    arms.retain(|arm| arm.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = arms.as_mut_slice() {
        // Keywords of the field take precedence over those of its type.
        let mut merged = mem::take(only);
        schema.remove("anyOf");
        merged.extend(schema);
        return merged;
    }
    schema
}

fn text(schema: &Map<String, Value>, name: &str) -> Option<String> {
    schema.get(name)?.as_str().map(str::to_owned)
}

/// Returns true for a keyword that allows less than a form without it. To leave out a bound that
/// neither the form nor the decoder of the type then holds would be to break a promise.
pub(super) fn is_foreign(keyword: &str) -> bool {
    matches!(
        keyword,
        "pattern"
            | "multipleOf"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "not"
            | "if"
            | "allOf"
            | "contains"
            | "contentEncoding"
            | "contentMediaType"
    )
}

/// The formats that a form may ask for.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];
