//! Reading a resource, and notifications of its changes.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{CacheScope, InputResponses, Meta, RequestState};
use crate::json::{List, Raw, Str};

/// The parameters of `resources/read`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ReadResourceParams", rename_all = "camelCase")]
pub struct ReadResourceParams<'b> {
    /// The resource.
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// The answers to an `input_required`; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses<'b>>,
    /// What came with it, unchanged (MR-11); since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<RequestState<'b>>,
    /// Progress token and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `resources/read`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ReadResourceResult", rename_all = "camelCase")]
pub struct ReadResourceResult<'b> {
    /// One or more parts; a missing resource is an error, never an empty list (RS-06).
    #[serde(borrow)]
    pub contents: List<'b, ResourceContents<'b>>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

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

/// The parameters of `resources/subscribe`, `resources/unsubscribe` and
/// `notifications/resources/updated`, and the `data` of an error that a resource is missing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceParams", rename_all = "camelCase")]
pub struct ResourceParams<'b> {
    /// The resource. An update may be of a part of the one that was subscribed to (RS-10).
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
