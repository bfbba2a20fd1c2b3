//! Blocks of content.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::kind::kind;
use super::{Annotations, Icon, Meta, ResourceContents};
use crate::json::{List, Raw, Str};

/// A piece of what a model or a person gets to see.
///
/// What a revision does not have becomes a note in text (TL-17).
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type")]
pub enum ContentBlock<'b> {
    /// Text.
    #[serde(rename = "text")]
    Text(TextContent<'b>),
    /// A picture.
    #[serde(rename = "image")]
    Image(ImageContent<'b>),
    /// Sound; since 2025-03-26.
    #[serde(rename = "audio")]
    Audio(AudioContent<'b>),
    /// The address of a resource; since 2025-06-18.
    #[serde(rename = "resource_link")]
    ResourceLink(ResourceLink<'b>),
    /// A resource with what it holds.
    #[serde(rename = "resource")]
    Resource(EmbeddedResource<'b>),
    /// A block of a type that no revision defines.
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'b> ContentBlock<'b> {
    /// A block of text.
    pub fn text(text: &'b str) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for ContentBlock<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let block = match kind(raw) {
            Some(kind) if kind == "text" => raw.decode(&mut []).map(Self::Text),
            Some(kind) if kind == "image" => raw.decode(&mut []).map(Self::Image),
            Some(kind) if kind == "audio" => raw.decode(&mut []).map(Self::Audio),
            Some(kind) if kind == "resource_link" => raw.decode(&mut []).map(Self::ResourceLink),
            Some(kind) if kind == "resource" => raw.decode(&mut []).map(Self::Resource),
            Some(_) => Ok(Self::Other(raw)),
            None => return Err(D::Error::missing_field("type")),
        };
        block.map_err(D::Error::custom)
    }
}

/// Text.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:TextContent", rename_all = "camelCase")]
pub struct TextContent<'b> {
    /// The text.
    #[serde(borrow)]
    pub text: Str<'b>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A picture.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ImageContent", rename_all = "camelCase")]
pub struct ImageContent<'b> {
    /// Its bytes in base64.
    #[serde(borrow)]
    pub data: Str<'b>,
    /// Its type.
    pub mime_type: Str<'b>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// Sound; since 2025-03-26.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:AudioContent", rename_all = "camelCase")]
pub struct AudioContent<'b> {
    /// Its bytes in base64.
    #[serde(borrow)]
    pub data: Str<'b>,
    /// Its type.
    pub mime_type: Str<'b>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The address of a resource, which `resources/list` need not know (TL-16); since 2025-06-18.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceLink", rename_all = "camelCase")]
pub struct ResourceLink<'b> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// What programs call it.
    pub name: Str<'b>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// Its bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Pictures of it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A resource with what it holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:EmbeddedResource", rename_all = "camelCase")]
pub struct EmbeddedResource<'b> {
    /// What it holds.
    #[serde(borrow)]
    pub resource: ResourceContents<'b>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
