//! Directories that a client shows to a server.

use serde::{Deserialize, Serialize};

use super::Meta;
use crate::json::{List, Str};

/// A directory or file where a server may work.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Root", rename_all = "camelCase")]
pub struct Root<'b> {
    /// Its address: `file://` and a path (RT-03).
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Str<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `roots/list`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListRootsResult", rename_all = "camelCase")]
pub struct ListRootsResult<'b> {
    /// The roots.
    #[serde(borrow)]
    pub roots: List<'b, Root<'b>>,
    /// Anything else; until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
