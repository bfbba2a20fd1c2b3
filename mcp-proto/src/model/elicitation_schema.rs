//! Forms of an elicitation: a small part of JSON Schema.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::open::closed_enum;
use super::union::{has, tag};
use super::{BooleanSchema, EnumSchema, MultiEnumSchema, NumberSchema, StringSchema};
use crate::json::Raw;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_forms {
    ($form:ident) => {
        $form! {
            /// A form: fields by name, and the names of those that must be filled.
            ///
            /// ```
            /// use mcp_proto::json::{List, Map};
            /// use mcp_proto::model::*;
            ///
            /// let fields = [
            ///     ("city", PrimitiveSchema::String(StringSchema::default())),
            ///     ("now", PrimitiveSchema::Boolean(BooleanSchema::default())),
            /// ];
            /// let required = ["city".into()];
            /// let form = ElicitFormParams {
            ///     message: "Where to?".into(),
            ///     requested_schema: ElicitationSchema {
            ///         properties: Map::from(&fields),
            ///         required: Some(List::from(&required)),
            ///         ..ElicitationSchema::default()
            ///     },
            ///     ..ElicitFormParams::default()
            /// };
            /// assert_eq!(form.requested_schema.properties.len(), 2);
            /// ```
            #[derive(Debug, Default)]
            struct ElicitationSchema<'b> {
                /// The dialect of JSON Schema; since 2025-11-25.
                schema "$schema": Option<Text> [SINCE_2025_11],
                /// The type of the form.
                kind "type": ObjectType,
                /// The fields.
                properties: Fields,
                /// The names of the fields that must be filled.
                required: Items<Text>,
            }

            /// A field for text.
            #[derive(Debug, Default)]
            struct StringSchema<'b> {
                /// The title for people.
                title: Option<Text>,
                /// The description for people.
                description: Option<Text>,
                /// The fewest characters.
                min_length "minLength": Option<u64>,
                /// The most characters.
                max_length "maxLength": Option<u64>,
                /// The format.
                format: Option<StringFormat>,
                /// The value at first; since 2025-11-25.
                default: Option<Text> [SINCE_2025_11],
            }

            /// A field for a number.
            #[derive(Debug)]
            struct NumberSchema<'b> {
                /// The type: any number, or whole numbers.
                kind "type": NumberType,
                /// The title for people.
                title: Option<Text>,
                /// The description for people.
                description: Option<Text>,
                /// The least number.
                minimum: Option<f64>,
                /// The greatest number.
                maximum: Option<f64>,
                /// The value at first; since 2025-11-25.
                default: Option<f64> [SINCE_2025_11],
            }

            /// A field for yes or no.
            #[derive(Debug, Default)]
            struct BooleanSchema<'b> {
                /// The title for people.
                title: Option<Text>,
                /// The description for people.
                description: Option<Text>,
                /// The value at first.
                default: Option<bool>,
            }

            /// A value to choose, and the text that people see for it.
            #[derive(Debug, Default)]
            struct Choice<'b> {
                /// The value.
                value "const": Text,
                /// The text for people.
                title: Text,
            }
            ;
            ;
            /// The format of a text.
            names StringFormat {
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
    };
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
        let schema = match tag(raw, "type").and_then(Raw::string) {
            Some(kind) if kind == "string" && (has(raw, "enum") || has(raw, "oneOf")) => {
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

closed_enum! {
    /// The type of the numbers of a field.
    pub enum NumberType {
        /// Any number.
        Number = "number",
        /// A whole number.
        Integer = "integer",
    }
}
