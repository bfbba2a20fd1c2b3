//! The handshake of the legacy era, and `server/discover`, which replaces it.

use serde::{Deserialize, Serialize};

use super::{CacheScope, ClientCapabilities, Implementation, Meta, ServerCapabilities};
use crate::json::{List, Str};

/// The parameters of `initialize`; until 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:InitializeParams", rename_all = "camelCase")]
pub struct InitializeParams<'b> {
    /// The revision that the client offers, as text: the server may not know it.
    #[serde(borrow)]
    pub protocol_version: Str<'b>,
    /// What the client can do.
    pub capabilities: ClientCapabilities<'b>,
    /// Who it is.
    pub client_info: Implementation<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `initialize`; until 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:InitializeResult", rename_all = "camelCase")]
pub struct InitializeResult<'b> {
    /// The revision that the session speaks (LC-16), as text: the client may not know it.
    #[serde(borrow)]
    pub protocol_version: Str<'b>,
    /// What the server can do.
    pub capabilities: ServerCapabilities<'b>,
    /// Who it is.
    pub server_info: Implementation<'b>,
    /// How a model gets the most out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Str<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `server/discover`; since 2026-07-28.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:DiscoverResult", rename_all = "camelCase")]
pub struct DiscoverResult<'b> {
    /// The revisions that the server speaks, of either era.
    #[serde(borrow)]
    pub supported_versions: List<'b, Str<'b>>,
    /// What it can do.
    pub capabilities: ServerCapabilities<'b>,
    /// How a model gets the most out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Str<'b>>,
    /// How long it stays fresh, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<i64>,
    /// Who may share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else; the server tells here who it is.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
