//! Fields of a form that offer choices.

use serde::de::Error;
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Choice;
use super::rules::{Optional, Rule};
use crate::json::{DecodeError, List, Object, Str};

/// A field for one choice of several.
///
/// Titles are sent as each revision wants them (EL-17).
///
/// ```
/// use mcp_proto::json::{List, Writer};
/// use mcp_proto::model::{Choice, Choices, EnumSchema};
/// use mcp_proto::Revision;
///
/// let choices = [Choice { value: "jp".into(), title: "Japan".into() }];
/// let schema = EnumSchema {
///     choices: Choices::Titled(List::from(&choices)),
///     title: None,
///     description: None,
///     default: None,
/// };
/// let mut out = [0; 128];
/// let mut writer = Writer::new(&mut out);
/// writer.value(&schema, Some(Revision::V2025_06_18))?;
/// let len = writer.finish()?;
/// assert_eq!(&out[..len], br#"{"type":"string","enum":["jp"],"enumNames":["Japan"]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EnumSchema<'b> {
    /// The choices.
    pub choices: Choices<'b>,
    /// The title.
    pub title: Option<Str<'b>>,
    /// The description.
    pub description: Option<Str<'b>>,
    /// The choice that is selected at first; since 2025-11-25.
    pub default: Option<Str<'b>>,
}

/// The choices of a field.
#[derive(Clone, Copy, Debug)]
pub enum Choices<'b> {
    /// Values that speak for themselves.
    Untitled(List<'b, Str<'b>>),
    /// Values and what to show for them.
    Titled(List<'b, Choice<'b>>),
    /// Values, and in a list beside them what to show for them: the form of 2025-06-18, read
    /// and written as it is.
    Named {
        /// The values.
        values: List<'b, Str<'b>>,
        /// The titles of the values, in the order of the values.
        names: List<'b, Str<'b>>,
    },
}

impl Serialize for EnumSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self.choices {
            Choices::Titled(_) => "mcp:EnumSchema:titled",
            _ => "mcp:EnumSchema",
        };
        let mut schema = serializer.serialize_struct(name, 7)?;
        schema.serialize_field("type", "string")?;
        Optional::write(&self.title, "title", &mut schema)?;
        Optional::write(&self.description, "description", &mut schema)?;
        match self.choices {
            Choices::Untitled(values) => schema.serialize_field("enum", &values)?,
            Choices::Named { values, names } => {
                schema.serialize_field("enum", &values)?;
                schema.serialize_field("enumNames", &names)?;
            }
            Choices::Titled(choices) => {
                schema.serialize_field("oneOf", &choices)?;
                schema.serialize_field("enum", &Column(choices, |choice| choice.value))?;
                schema.serialize_field("enumNames", &Column(choices, |choice| choice.title))?;
            }
        }
        Optional::write(&self.default, "default", &mut schema)?;
        schema.end()
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for EnumSchema<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Object::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'b> EnumSchema<'b> {
    fn read(object: Object<'b>) -> Result<Self, DecodeError> {
        Ok(Self {
            choices: Choices::read(object, "oneOf", "enum")?,
            title: member(object, "title")?,
            description: member(object, "description")?,
            default: member(object, "default")?,
        })
    }
}

impl<'b> Choices<'b> {
    fn read(
        object: Object<'b>,
        titled: &'static str,
        values: &'static str,
    ) -> Result<Self, DecodeError> {
        if let Some(choices) = member(object, titled)? {
            return Ok(Self::Titled(choices));
        }
        let choices = member(object, values)?;
        let choices = choices.ok_or_else(|| DecodeError::missing_field(values))?;
        Ok(match member(object, "enumNames")? {
            Some(names) => Self::Named {
                values: choices,
                names,
            },
            None => Self::Untitled(choices),
        })
    }
}

/// A field for several choices of several; since 2025-11-25. An older peer is offered one.
#[derive(Clone, Copy, Debug)]
pub struct MultiEnumSchema<'b> {
    /// The choices.
    pub choices: Choices<'b>,
    /// The title.
    pub title: Option<Str<'b>>,
    /// The description.
    pub description: Option<Str<'b>>,
    /// The fewest choices.
    pub min_items: Option<u64>,
    /// The most choices.
    pub max_items: Option<u64>,
    /// The choices that are selected at first.
    pub default: Option<List<'b, Str<'b>>>,
}

impl Serialize for MultiEnumSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_struct("mcp:MultiEnumSchema", 7)?;
        schema.serialize_field("type", "array")?;
        Optional::write(&self.title, "title", &mut schema)?;
        Optional::write(&self.description, "description", &mut schema)?;
        schema.serialize_field("items", &Items(self.choices))?;
        Optional::write(&self.min_items, "minItems", &mut schema)?;
        Optional::write(&self.max_items, "maxItems", &mut schema)?;
        Optional::write(&self.default, "default", &mut schema)?;
        schema.end()
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for MultiEnumSchema<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Object::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'b> MultiEnumSchema<'b> {
    fn read(object: Object<'b>) -> Result<Self, DecodeError> {
        let items: Option<Object<'b>> = member(object, "items")?;
        let items = items.ok_or_else(|| DecodeError::missing_field("items"))?;
        Ok(Self {
            choices: Choices::read(items, "anyOf", "enum")?,
            title: member(object, "title")?,
            description: member(object, "description")?,
            min_items: member(object, "minItems")?,
            max_items: member(object, "maxItems")?,
            default: member(object, "default")?,
        })
    }
}

/// The schema of one choice of several.
struct Items<'b>(Choices<'b>);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_struct("mcp:Items", 2)?;
        match self.0 {
            Choices::Untitled(values) | Choices::Named { values, .. } => {
                items.serialize_field("type", "string")?;
                items.serialize_field("enum", &values)?;
            }
            Choices::Titled(choices) => items.serialize_field("anyOf", &choices)?,
        }
        items.end()
    }
}

/// One member of every choice, as a list.
struct Column<'b>(List<'b, Choice<'b>>, fn(Choice<'b>) -> Str<'b>);

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for choice in self.0.iter() {
            let choice = choice.map_err(serde::ser::Error::custom)?;
            list.serialize_element(&(self.1)(choice))?;
        }
        list.end()
    }
}

/// Reads a member; `null` counts as absent.
fn member<'b, T: Deserialize<'b>>(
    object: Object<'b>,
    name: &'static str,
) -> Result<Option<T>, DecodeError> {
    object.get(name).map_or(Ok(None), |raw| raw.decode(&mut []))
}
