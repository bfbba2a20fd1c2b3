//! Reading a resource, and notifications of its changes.

use serde::{Deserialize, Serialize};

use super::{CacheScope, InputResponses, Meta, RequestState, ResourceContents};
use crate::json::{List, Str};

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
