//! Forms of an elicitation: a small part of JSON Schema.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::kind::kind;
use super::open::{closed_enum, open_enum};
use super::{EnumSchema, MultiEnumSchema};
use crate::json::{List, Map, Raw, Str};

/// A form: fields by name, and which of them must be filled.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitationSchema", rename_all = "camelCase")]
pub struct ElicitationSchema<'b> {
    /// The dialect of JSON Schema; since 2025-11-25.
    #[serde(rename = "$schema", borrow, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Str<'b>>,
    /// Says that it is an object.
    #[serde(rename = "type")]
    pub kind: ObjectType,
    /// The fields.
    pub properties: Map<'b, PrimitiveSchema<'b>>,
    /// The names of those that must be filled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<List<'b, Str<'b>>>,
}

closed_enum! {
    /// The type of a form.
    #[derive(Default)]
    pub enum ObjectType {
        /// An object: there is no other.
        #[default]
        Object = "object",
    }
}

/// A field of a form.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type")]
pub enum PrimitiveSchema<'b> {
    /// Text.
    #[serde(rename = "string")]
    String(StringSchema<'b>),
    /// Yes or no.
    #[serde(rename = "boolean")]
    Boolean(BooleanSchema<'b>),
    /// A number.
    #[serde(untagged)]
    Number(NumberSchema<'b>),
    /// One choice of several.
    #[serde(untagged)]
    Enum(EnumSchema<'b>),
    /// Several choices of several; since 2025-11-25.
    #[serde(untagged)]
    MultiEnum(MultiEnumSchema<'b>),
    /// A field that no revision defines.
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for PrimitiveSchema<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let has = |member| {
            raw.object()
                .is_some_and(|object| object.get(member).is_some())
        };
        let schema = match kind(raw) {
            Some(kind) if kind == "string" && (has("enum") || has("oneOf")) => {
                raw.decode(&mut []).map(Self::Enum)
            }
            Some(kind) if kind == "string" => raw.decode(&mut []).map(Self::String),
            Some(kind) if kind == "number" || kind == "integer" => {
                raw.decode(&mut []).map(Self::Number)
            }
            Some(kind) if kind == "boolean" => raw.decode(&mut []).map(Self::Boolean),
            Some(kind) if kind == "array" => raw.decode(&mut []).map(Self::MultiEnum),
            Some(_) => Ok(Self::Other(raw)),
            None => return Err(D::Error::missing_field("type")),
        };
        schema.map_err(D::Error::custom)
    }
}

/// A field for text.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:StringSchema", rename_all = "camelCase")]
pub struct StringSchema<'b> {
    /// What people call it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// The fewest characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// The most characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Its form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat<'b>>,
    /// What is there before anything is typed; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Str<'b>>,
}

open_enum! {
    /// The form of a text.
    pub enum StringFormat {
        /// An email address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and a time of day.
        DateTime = "date-time",
    }
}

/// A field for a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:NumberSchema", rename_all = "camelCase")]
pub struct NumberSchema<'b> {
    /// Whether it is whole.
    #[serde(rename = "type")]
    pub kind: NumberType,
    /// What people call it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// The least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// What is there before anything is typed; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<f64>,
}

closed_enum! {
    /// Whether a number is whole.
    pub enum NumberType {
        /// It may have a fraction.
        Number = "number",
        /// It is whole.
        Integer = "integer",
    }
}

/// A field for yes or no.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:BooleanSchema", rename_all = "camelCase")]
pub struct BooleanSchema<'b> {
    /// What people call it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// What is there before anything is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}
