//! Directories that a client shows to a server.

use serde::{Deserialize, Serialize};

use super::Meta;
use crate::json::{List, Str};

/// A directory or file where a server may work.
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::Root;
///
/// let root: Root<'_> = Raw::parse(br#"{"uri":"file:///notes"}"#, 16)?.decode(&mut [])?;
/// assert_eq!(root.uri, "file:///notes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::ListRootsResult;
///
/// let text = br#"{"roots":[{"uri":"file:///notes"}]}"#;
/// let listed: ListRootsResult<'_> = Raw::parse(text, 16)?.decode(&mut [])?;
/// assert_eq!(listed.roots.iter().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
