//! Fields of a form that offer choices.

use serde::de::Error;
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lenient;
use crate::json::{List, Str};

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
    /// What people call it.
    pub title: Option<Str<'b>>,
    /// What is chosen there.
    pub description: Option<Str<'b>>,
    /// What is chosen at first; since 2025-11-25.
    pub default: Option<Str<'b>>,
}

/// What there is to choose from.
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
        /// What to show, in the same order.
        names: List<'b, Str<'b>>,
    },
}

/// A value, and what to show for it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Choice", rename_all = "camelCase")]
pub struct Choice<'b> {
    /// The value.
    #[serde(rename = "const", borrow)]
    pub value: Str<'b>,
    /// What people see.
    pub title: Str<'b>,
}

impl Serialize for EnumSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self.choices {
            Choices::Titled(_) => "mcp:EnumSchema:titled",
            _ => "mcp:EnumSchema",
        };
        let mut schema = serializer.serialize_struct(name, 7)?;
        schema.serialize_field("type", "string")?;
        lenient::member(&mut schema, "title", &self.title)?;
        lenient::member(&mut schema, "description", &self.description)?;
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
        lenient::member(&mut schema, "default", &self.default)?;
        schema.end()
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for EnumSchema<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = EnumWire::deserialize(deserializer)?;
        let choices = match (wire.one_of, wire.values, wire.enum_names) {
            (Some(choices), _, _) => Choices::Titled(choices),
            (None, Some(values), Some(names)) => Choices::Named { values, names },
            (None, Some(values), None) => Choices::Untitled(values),
            (None, None, _) => return Err(D::Error::missing_field("enum")),
        };
        Ok(Self {
            choices,
            title: wire.title,
            description: wire.description,
            default: wire.default,
        })
    }
}

/// A field for several choices of several; since 2025-11-25. An older peer is offered one.
#[derive(Clone, Copy, Debug)]
pub struct MultiEnumSchema<'b> {
    /// The choices.
    pub choices: Choices<'b>,
    /// What people call it.
    pub title: Option<Str<'b>>,
    /// What is chosen there.
    pub description: Option<Str<'b>>,
    /// The fewest choices.
    pub min_items: Option<u64>,
    /// The most choices.
    pub max_items: Option<u64>,
    /// What is chosen at first.
    pub default: Option<List<'b, Str<'b>>>,
}

impl Serialize for MultiEnumSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_struct("mcp:MultiEnumSchema", 7)?;
        schema.serialize_field("type", "array")?;
        lenient::member(&mut schema, "title", &self.title)?;
        lenient::member(&mut schema, "description", &self.description)?;
        schema.serialize_field("items", &Items(self.choices))?;
        lenient::member(&mut schema, "minItems", &self.min_items)?;
        lenient::member(&mut schema, "maxItems", &self.max_items)?;
        lenient::member(&mut schema, "default", &self.default)?;
        schema.end()
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for MultiEnumSchema<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = MultiEnumWire::deserialize(deserializer)?;
        let choices = match (wire.items.any_of, wire.items.values) {
            (Some(choices), _) => Choices::Titled(choices),
            (None, Some(values)) => Choices::Untitled(values),
            (None, None) => return Err(D::Error::missing_field("items")),
        };
        Ok(Self {
            choices,
            title: wire.title,
            description: wire.description,
            min_items: wire.min_items,
            max_items: wire.max_items,
            default: wire.default,
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

#[derive(Deserialize)]
struct EnumWire<'b> {
    #[serde(borrow)]
    title: Option<Str<'b>>,
    description: Option<Str<'b>>,
    #[serde(rename = "oneOf")]
    one_of: Option<List<'b, Choice<'b>>>,
    #[serde(rename = "enum")]
    values: Option<List<'b, Str<'b>>>,
    #[serde(rename = "enumNames")]
    enum_names: Option<List<'b, Str<'b>>>,
    default: Option<Str<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MultiEnumWire<'b> {
    #[serde(borrow)]
    title: Option<Str<'b>>,
    description: Option<Str<'b>>,
    items: ItemsWire<'b>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    default: Option<List<'b, Str<'b>>>,
}

#[derive(Deserialize)]
struct ItemsWire<'b> {
    #[serde(borrow, rename = "anyOf")]
    any_of: Option<List<'b, Choice<'b>>>,
    #[serde(rename = "enum")]
    values: Option<List<'b, Str<'b>>>,
}
