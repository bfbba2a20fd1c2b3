//! The name and version of a peer.

use serde::{Deserialize, Serialize};

use super::Icon;
use crate::json::{List, Str};

/// Name and version of a client or server: `clientInfo` and `serverInfo`.
///
/// It is for display only: neither behaviour nor security decisions may depend on it (VR-09).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Implementation", rename_all = "camelCase")]
pub struct Implementation<'b> {
    /// What programs call it.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// Its version, of no particular form.
    pub version: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What it is for; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Where to read about it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<Str<'b>>,
    /// Pictures of it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
}

impl<'b> Implementation<'b> {
    /// A name and a version, and nothing else.
    pub fn new(name: &'b str, version: &'b str) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}
