//! Annotations of content: its audience and priority.

use serde::{Deserialize, Serialize};

use super::open::closed_enum;
use crate::json::{List, Str};

/// Hints of a server about content and resources.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Annotations", rename_all = "camelCase")]
pub struct Annotations<'b> {
    /// Who it is for: people, the model, or both.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub audience: Option<List<'b, Role>>,
    /// How much it matters, from 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, in ISO 8601; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Str<'b>>,
}

closed_enum! {
    /// Who speaks or listens in a conversation with a model.
    pub enum Role {
        /// The person, or who speaks for them.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
