//! What a resource holds.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::Meta;
use crate::json::{Raw, Str};

/// What a resource holds: text, or bytes in base64.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum ResourceContents<'b> {
    /// It has a member `text`.
    Text(TextResourceContents<'b>),
    /// It has a member `blob`.
    Blob(BlobResourceContents<'b>),
    /// It has neither.
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for ResourceContents<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let has = |member| {
            raw.object()
                .is_some_and(|object| object.get(member).is_some())
        };
        if has("text") {
            raw.decode(&mut [])
                .map(Self::Text)
                .map_err(D::Error::custom)
        } else if has("blob") {
            raw.decode(&mut [])
                .map(Self::Blob)
                .map_err(D::Error::custom)
        } else {
            Ok(Self::Other(raw))
        }
    }
}

/// A resource, or a part of one, as text.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:TextResourceContents", rename_all = "camelCase")]
pub struct TextResourceContents<'b> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// The text.
    pub text: Str<'b>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A resource, or a part of one, as bytes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:BlobResourceContents", rename_all = "camelCase")]
pub struct BlobResourceContents<'b> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// The bytes in base64.
    pub blob: Str<'b>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
