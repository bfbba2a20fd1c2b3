//! Parameters of notifications of both sides.

use serde::{Deserialize, Serialize};

use super::Meta;
use crate::json::Str;
use crate::rpc::Id;

/// The parameters of `notifications/cancelled`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:CancelledParams", rename_all = "camelCase")]
pub struct CancelledParams<'b> {
    /// The request, by the id that its sender gave it. One without is malformed (CN-08).
    #[serde(borrow)]
    pub request_id: Id<'b>,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The parameters of `notifications/progress`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:ProgressParams", rename_all = "camelCase")]
pub struct ProgressParams<'b> {
    /// What the request carried; `1` and `"1"` are two tokens.
    #[serde(borrow)]
    pub progress_token: Id<'b>,
    /// How far it is; it increases with each notification (PG-04).
    pub progress: f64,
    /// How far it will be at the end, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What it is doing, for people; since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Str<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The parameters of a request or notification without specific ones, such as
/// `server/discover`, `roots/list` and the notifications that a list changed; an empty result.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:EmptyParams", rename_all = "camelCase")]
pub struct EmptyParams<'b> {
    /// Anything at all.
    #[serde(rename = "_meta", borrow, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
