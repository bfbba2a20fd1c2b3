//! Messages of a conversation with a model.

use core::slice;

use mcp_proto::json::{Kind, Raw, RawBuf};
use serde::de::Error;
use serde::ser::{SerializeStruct, SerializeTupleStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AudioContent, Base64, Content, ImageContent, Meta, TextContent, lenient};

/// One block, or since 2025-11-25 a list of them. To an older peer the first block of a list is
/// sent alone (`SP-13`).
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// A list of blocks.
    Many(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, be it one or a list.
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// All blocks of text, joined by line breaks.
    pub fn text(&self) -> String {
        let blocks = self.blocks().iter();
        let texts: Vec<&str> = blocks.filter_map(SamplingBlock::as_text).collect();
        texts.join("\n")
    }
}

impl From<SamplingBlock> for SamplingContent {
    fn from(block: SamplingBlock) -> Self {
        Self::One(block)
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            // Where one block is due there has to be one.
            Self::Many(blocks) if blocks.is_empty() => {
                SamplingBlock::text("").serialize(serializer)
            }
            Self::Many(blocks) => {
                let mut list = serializer.serialize_tuple_struct("mcp:Blocks", blocks.len())?;
                for block in blocks {
                    list.serialize_field(block)?;
                }
                list.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum SamplingBlock {
    /// Text.
    #[serde(rename = "text")]
    Text(TextContent),
    /// A picture.
    #[serde(rename = "image")]
    Image(ImageContent),
    /// Sound; since 2025-03-26.
    #[serde(rename = "audio")]
    Audio(AudioContent),
    /// The model wants to use a tool; since 2025-11-25.
    #[serde(rename = "tool_use")]
    ToolUse(ToolUseContent),
    /// What the tool said; since 2025-11-25.
    #[serde(rename = "tool_result")]
    ToolResult(ToolResultContent),
    /// A block of a type that no revision defines, as it came.
    #[serde(untagged)]
    Other(RawBuf),
}

impl SamplingBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }

    /// A picture from its bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent {
            data: Base64::encode(bytes.as_ref()),
            mime_type: mime_type.into(),
            ..ImageContent::default()
        })
    }

    /// Its text, if it is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for SamplingBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let block = match lenient::kind(raw) {
            Some(kind) if kind == "text" => raw.decode(&mut []).map(Self::Text),
            Some(kind) if kind == "image" => raw.decode(&mut []).map(Self::Image),
            Some(kind) if kind == "audio" => raw.decode(&mut []).map(Self::Audio),
            Some(kind) if kind == "tool_use" => raw.decode(&mut []).map(Self::ToolUse),
            Some(kind) if kind == "tool_result" => raw.decode(&mut []).map(Self::ToolResult),
            Some(_) => Ok(Self::Other(raw.into())),
            None => return Err(D::Error::missing_field("type")),
        };
        block.map_err(D::Error::custom)
    }
}

/// A model's wish to use a tool; since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolUseContent", rename_all = "camelCase")]
pub struct ToolUseContent {
    /// What the result names it by.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    #[serde(deserialize_with = "lenient::object")]
    pub input: RawBuf,
    /// Anything else, to be preserved in later requests (`SP-14`).
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// What a tool said to a model; since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "mcp:ToolResultContent", rename_all = "camelCase")]
pub struct ToolResultContent {
    /// The use that it answers (`SP-06`).
    pub tool_use_id: String,
    /// What the model reads.
    #[serde(default, deserialize_with = "lenient::list")]
    pub content: Vec<Content>,
    /// The same for programs: an object, and since 2026-07-28 any value.
    #[serde(default, deserialize_with = "lenient::present")]
    pub structured_content: Option<RawBuf>,
    /// Whether the tool failed.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_error: bool,
    /// Anything else, to be preserved in later requests (`SP-14`).
    #[serde(default, rename = "_meta", deserialize_with = "lenient::or_default")]
    pub meta: Meta,
}

impl Serialize for ToolResultContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match &self.structured_content {
            Some(value) if value.as_raw().kind() != Kind::Object => "mcp:ToolResultContent:any",
            _ => "mcp:ToolResultContent",
        };
        let mut result = serializer.serialize_struct(name, 5)?;
        result.serialize_field("toolUseId", &self.tool_use_id)?;
        result.serialize_field("content", &self.content)?;
        lenient::member(&mut result, "structuredContent", &self.structured_content)?;
        if self.is_error {
            result.serialize_field("isError", &true)?;
        }
        lenient::meta(&mut result, &self.meta)?;
        result.end()
    }
}
