//! The filter of a subscription; since 2026-07-28.

use serde::{Deserialize, Serialize};

use super::{Meta, lenient};
use crate::json::{List, Str};

/// The parameters of `subscriptions/listen`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListenParams", rename_all = "camelCase")]
pub struct ListenParams<'b> {
    /// What the client wants to hear about.
    #[serde(borrow)]
    pub notifications: SubscriptionFilter<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The parameters of `notifications/subscriptions/acknowledged`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:AcknowledgedParams", rename_all = "camelCase")]
pub struct AcknowledgedParams<'b> {
    /// What of it the client will hear about (SB-02).
    #[serde(borrow)]
    pub notifications: SubscriptionFilter<'b>,
    /// The id of the listen, and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// Kinds of notifications.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:SubscriptionFilter", rename_all = "camelCase")]
pub struct SubscriptionFilter<'b> {
    /// That the list of tools changed.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub tools_list_changed: bool,
    /// That the list of prompts changed.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub prompts_list_changed: bool,
    /// That the list of resources changed.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub resources_list_changed: bool,
    /// That one of these resources changed.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub resource_subscriptions: Option<List<'b, Str<'b>>>,
    /// What becomes of these tasks; with the extension for tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_ids: Option<List<'b, Str<'b>>>,
}
