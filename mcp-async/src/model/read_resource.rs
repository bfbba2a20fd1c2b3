//! The contents of a resource.

use mcp_proto::json::{Raw, RawBuf};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Base64, CacheScope, Meta, lenient};

/// The result of `resources/read`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ReadResourceResult", rename_all = "camelCase")]
pub struct ReadResourceResult {
    /// One or more parts; a missing resource is an error, never an empty list (`RS-06`).
    pub contents: Vec<ResourceContents>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28. See
    /// [`freshness`](mcp_proto::model::freshness).
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl ReadResourceResult {
    /// All parts that are text, one after the other; `None` if no part is.
    pub fn text(&self) -> Option<String> {
        let texts = self.contents.iter().filter_map(ResourceContents::as_text);
        texts.map(String::from).reduce(|all, text| all + &text)
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::from(vec![contents])
    }
}

/// What a resource holds: text, or bytes in base64.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ResourceContents {
    /// It has a member `text`.
    Text(TextResourceContents),
    /// It has a member `blob`.
    Blob(BlobResourceContents),
    /// It has neither; as it came.
    Other(RawBuf),
}

impl ResourceContents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents {
            uri: uri.into(),
            text: text.into(),
            ..TextResourceContents::default()
        })
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Blob(BlobResourceContents {
            uri: uri.into(),
            blob: Base64::encode(bytes.as_ref()),
            ..BlobResourceContents::default()
        })
    }

    /// The same contents of a type; what has neither text nor bytes stays as it is.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        let place = match &mut self {
            Self::Text(contents) => &mut contents.mime_type,
            Self::Blob(contents) => &mut contents.mime_type,
            Self::Other(_) => return self,
        };
        *place = Some(mime_type.into());
        self
    }

    /// Its address, unless it has neither text nor bytes.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.uri),
            Self::Blob(contents) => Some(&contents.uri),
            Self::Other(_) => None,
        }
    }

    /// Its text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let has = |member| {
            raw.object()
                .is_some_and(|object| object.get(member).is_some())
        };
        let contents = if has("text") {
            raw.decode(&mut []).map(Self::Text)
        } else if has("blob") {
            raw.decode(&mut []).map(Self::Blob)
        } else {
            Ok(Self::Other(raw.into()))
        };
        contents.map_err(D::Error::custom)
    }
}

/// A resource, or a part of one, as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:TextResourceContents", rename_all = "camelCase")]
pub struct TextResourceContents {
    /// Its address.
    pub uri: String,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// A resource, or a part of one, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:BlobResourceContents", rename_all = "camelCase")]
pub struct BlobResourceContents {
    /// Its address.
    pub uri: String,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes.
    pub blob: Base64,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}
