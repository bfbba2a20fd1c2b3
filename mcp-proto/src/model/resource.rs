//! Resources, their templates, and pages of them.

use serde::{Deserialize, Serialize};

use super::{Annotations, CacheScope, Icon, Meta, lenient};
use crate::json::{List, Str};

/// Something that a server lets clients read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Resource", rename_all = "camelCase")]
pub struct Resource<'b> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Str<'b>,
    /// What programs call it.
    pub name: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// Its bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Pictures of it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl<'b> Resource<'b> {
    /// An address and a name, and nothing else.
    pub fn new(uri: &'b str, name: &'b str) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}

/// Resources whose address has parts to fill in.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceTemplate", rename_all = "camelCase")]
pub struct ResourceTemplate<'b> {
    /// Their address, by RFC 6570.
    #[serde(borrow)]
    pub uri_template: Str<'b>,
    /// What programs call them.
    pub name: Str<'b>,
    /// What people call them; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What they are, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Their type, if they all have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Str<'b>>,
    /// Who they are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations<'b>>,
    /// Pictures of them; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl<'b> ResourceTemplate<'b> {
    /// A template and a name, and nothing else.
    pub fn new(uri_template: &'b str, name: &'b str) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The result of `resources/list`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListResourcesResult", rename_all = "camelCase")]
pub struct ListResourcesResult<'b> {
    /// A page of resources.
    #[serde(borrow)]
    pub resources: List<'b, Resource<'b>>,
    /// Where the next page begins; even an empty one is a cursor (PN-04).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "lenient::echo"
    )]
    pub next_cursor: Option<Str<'b>>,
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

/// The result of `resources/templates/list`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListResourceTemplatesResult", rename_all = "camelCase")]
pub struct ListResourceTemplatesResult<'b> {
    /// A page of templates.
    #[serde(borrow)]
    pub resource_templates: List<'b, ResourceTemplate<'b>>,
    /// Where the next page begins; even an empty one is a cursor (PN-04).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "lenient::echo"
    )]
    pub next_cursor: Option<Str<'b>>,
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
