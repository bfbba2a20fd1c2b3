//! The filter of a subscription.

use serde::{Deserialize, Serialize};

use super::lenient;

/// Kinds of notifications; since 2026-07-28.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:SubscriptionFilter", rename_all = "camelCase")]
pub struct SubscriptionFilter {
    /// That the list of tools changed.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "lenient::is_false"
    )]
    pub tools_list_changed: bool,
    /// That the list of prompts changed.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "lenient::is_false"
    )]
    pub prompts_list_changed: bool,
    /// That the list of resources changed.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "lenient::is_false"
    )]
    pub resources_list_changed: bool,
    /// That one of these resources changed, or a part of one.
    #[serde(
        default,
        deserialize_with = "lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub resource_subscriptions: Vec<String>,
}
