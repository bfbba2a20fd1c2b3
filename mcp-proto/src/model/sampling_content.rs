//! Messages of a conversation with a model.

use serde::de::Error;
use serde::ser::{SerializeStruct, SerializeTupleStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kind::kind;
use super::{AudioContent, ContentBlock, ImageContent, Meta, TextContent, lenient};
use crate::json::{Kind, List, Object, Raw, Str};

/// One block, or since 2025-11-25 a list of them. The reader sees a sequence either way.
///
/// To an older peer the first block of a list is sent alone (SP-13).
#[derive(Clone, Copy, Debug)]
pub enum SamplingContent<'b> {
    /// One block.
    One(SamplingBlock<'b>),
    /// A list of blocks.
    Many(List<'b, SamplingBlock<'b>>),
}

impl<'b> SamplingContent<'b> {
    /// A block of text.
    pub fn text(text: &'b str) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl Serialize for SamplingContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            // Where one block is due there has to be one.
            Self::Many(blocks) if blocks.is_empty() => {
                SamplingBlock::text("").serialize(serializer)
            }
            Self::Many(blocks) => {
                let mut list = serializer.serialize_tuple_struct("mcp:Blocks", blocks.len())?;
                for block in blocks.iter() {
                    list.serialize_field(&block.map_err(serde::ser::Error::custom)?)?;
                }
                list.end()
            }
        }
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for SamplingContent<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match raw.kind() {
            Kind::Array => raw.decode(&mut []).map(Self::Many),
            _ => raw.decode(&mut []).map(Self::One),
        }
        .map_err(D::Error::custom)
    }
}

/// A piece of what is said in a conversation with a model.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type")]
pub enum SamplingBlock<'b> {
    /// Text.
    #[serde(rename = "text")]
    Text(TextContent<'b>),
    /// A picture.
    #[serde(rename = "image")]
    Image(ImageContent<'b>),
    /// Sound; since 2025-03-26.
    #[serde(rename = "audio")]
    Audio(AudioContent<'b>),
    /// The model wants to use a tool; since 2025-11-25.
    #[serde(rename = "tool_use")]
    ToolUse(ToolUseContent<'b>),
    /// What the tool said; since 2025-11-25.
    #[serde(rename = "tool_result")]
    ToolResult(ToolResultContent<'b>),
    /// A block of a type that no revision defines.
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'b> SamplingBlock<'b> {
    /// A block of text.
    pub fn text(text: &'b str) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for SamplingBlock<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let block = match kind(raw) {
            Some(kind) if kind == "text" => raw.decode(&mut []).map(Self::Text),
            Some(kind) if kind == "image" => raw.decode(&mut []).map(Self::Image),
            Some(kind) if kind == "audio" => raw.decode(&mut []).map(Self::Audio),
            Some(kind) if kind == "tool_use" => raw.decode(&mut []).map(Self::ToolUse),
            Some(kind) if kind == "tool_result" => raw.decode(&mut []).map(Self::ToolResult),
            Some(_) => Ok(Self::Other(raw)),
            None => return Err(D::Error::missing_field("type")),
        };
        block.map_err(D::Error::custom)
    }
}

/// A model's wish to use a tool; since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolUseContent", rename_all = "camelCase")]
pub struct ToolUseContent<'b> {
    /// What the result names it by.
    #[serde(borrow)]
    pub id: Str<'b>,
    /// The tool.
    pub name: Str<'b>,
    /// Its arguments.
    pub input: Object<'b>,
    /// Anything else, to be preserved in later requests (SP-14).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// What a tool said to a model; since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "mcp:ToolResultContent", rename_all = "camelCase")]
pub struct ToolResultContent<'b> {
    /// The use that it answers (SP-06).
    #[serde(borrow)]
    pub tool_use_id: Str<'b>,
    /// What the model reads.
    #[serde(default)]
    pub content: List<'b, ContentBlock<'b>>,
    /// The same for programs: an object, and since 2026-07-28 any value.
    #[serde(
        default,
        deserialize_with = "lenient::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Raw<'b>>,
    /// Whether the tool failed.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub is_error: bool,
    /// Anything else, to be preserved in later requests (SP-14).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl Serialize for ToolResultContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self.structured_content {
            Some(value) if value.kind() != Kind::Object => "mcp:ToolResultContent:any",
            _ => "mcp:ToolResultContent",
        };
        let mut result = serializer.serialize_struct(name, 5)?;
        result.serialize_field("toolUseId", &self.tool_use_id)?;
        result.serialize_field("content", &self.content)?;
        lenient::member(&mut result, "structuredContent", &self.structured_content)?;
        if self.is_error {
            result.serialize_field("isError", &true)?;
        }
        lenient::member(&mut result, "_meta", &self.meta)?;
        result.end()
    }
}
