//! Blocks of content.

use mcp_proto::json::{Raw, RawBuf};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Annotations, Base64, Icon, Meta, ResourceContents, lenient};

/// A piece of what a model or a person gets to see.
///
/// What a revision does not have becomes a note in text (`TL-17`).
///
/// ```
/// use mcp_async::model::Content;
///
/// let content = [
///     Content::text("A pixel, and where to find more of them:"),
///     Content::image(vec![0x42, 0x4D], "image/bmp"),
///     Content::resource_link("file:///pixels", "pixels"),
/// ];
/// assert!(content[0].as_text().is_some_and(|text| text.contains("pixel")));
/// assert_eq!(content[1].as_text(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum Content {
    /// Text.
    #[serde(rename = "text")]
    Text(TextContent),
    /// A picture.
    #[serde(rename = "image")]
    Image(ImageContent),
    /// Sound; since 2025-03-26.
    #[serde(rename = "audio")]
    Audio(AudioContent),
    /// The address of a resource; since 2025-06-18.
    #[serde(rename = "resource_link")]
    ResourceLink(ResourceLink),
    /// A resource with what it holds.
    #[serde(rename = "resource")]
    Resource(EmbeddedResource),
    /// A block of a type that no revision defines, as it came.
    #[serde(untagged)]
    Other(RawBuf),
}

impl Content {
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

    /// Sound from its bytes; a note in 2024-11-05.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent {
            data: Base64::encode(bytes.as_ref()),
            mime_type: mime_type.into(),
            ..AudioContent::default()
        })
    }

    /// The address of a resource; a text before 2025-06-18.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink {
            uri: uri.into(),
            name: name.into(),
            ..ResourceLink::default()
        })
    }

    /// A resource with what it holds.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource {
            resource: contents,
            annotations: None,
            meta: Meta::default(),
        })
    }

    /// The same content with hints; a block of an unknown type stays as it is.
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        let place = match &mut self {
            Self::Text(block) => &mut block.annotations,
            Self::Image(block) => &mut block.annotations,
            Self::Audio(block) => &mut block.annotations,
            Self::ResourceLink(block) => &mut block.annotations,
            Self::Resource(block) => &mut block.annotations,
            Self::Other(_) => return self,
        };
        *place = Some(annotations);
        self
    }

    /// Its text, if it is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let block = match lenient::kind(raw) {
            Some(kind) if kind == "text" => raw.decode(&mut []).map(Self::Text),
            Some(kind) if kind == "image" => raw.decode(&mut []).map(Self::Image),
            Some(kind) if kind == "audio" => raw.decode(&mut []).map(Self::Audio),
            Some(kind) if kind == "resource_link" => raw.decode(&mut []).map(Self::ResourceLink),
            Some(kind) if kind == "resource" => raw.decode(&mut []).map(Self::Resource),
            Some(_) => Ok(Self::Other(raw.into())),
            None => return Err(D::Error::missing_field("type")),
        };
        block.map_err(D::Error::custom)
    }
}

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:TextContent", rename_all = "camelCase")]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ImageContent", rename_all = "camelCase")]
pub struct ImageContent {
    /// Its bytes.
    pub data: Base64,
    /// Its type.
    pub mime_type: String,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// Sound; since 2025-03-26.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:AudioContent", rename_all = "camelCase")]
pub struct AudioContent {
    /// Its bytes.
    pub data: Base64,
    /// Its type.
    pub mime_type: String,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// The address of a resource, which `resources/list` need not know (`TL-16`); since 2025-06-18.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceLink", rename_all = "camelCase")]
pub struct ResourceLink {
    /// Its address.
    pub uri: String,
    /// What programs call it.
    pub name: String,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures of it; since 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// A resource with what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:EmbeddedResource", rename_all = "camelCase")]
pub struct EmbeddedResource {
    /// What it holds.
    pub resource: ResourceContents,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}
