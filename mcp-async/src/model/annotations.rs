//! Annotations of content: its audience and priority.

use mcp_proto::model::Role;
use serde::{Deserialize, Serialize};

use super::lenient;

/// Hints of a server about content and resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:Annotations", rename_all = "camelCase")]
pub struct Annotations {
    /// Who it is for: people, the model, or both. An empty list means all.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub audience: Vec<Role>,
    /// How much it matters, from 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, in ISO 8601; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}
