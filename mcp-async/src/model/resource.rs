//! Resources, their templates, and pages of them.

use serde::{Deserialize, Serialize};

use super::{Annotations, CacheScope, Cursor, Icon, Meta, lenient};

/// Something that a server lets clients read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:Resource", rename_all = "camelCase")]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// What programs call it.
    pub name: String,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Who it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures of it; since 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl Resource {
    /// An address and a name, and nothing else.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Resources whose address has parts to fill in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceTemplate", rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// Their address, by RFC 6570. See [`uri_template`](crate::uri_template).
    pub uri_template: String,
    /// What programs call them.
    pub name: String,
    /// What people call them; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What they are, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Their type, if they all have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Who they are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures of them; since 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything else; since 2025-06-18.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl ResourceTemplate {
    /// A template and a name, and nothing else.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// The result of `resources/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ListResourcesResult", rename_all = "camelCase")]
pub struct ListResourcesResult {
    /// A page of resources.
    pub resources: Vec<Resource>,
    /// Where the next page begins; even an empty one is a cursor (`PN-04`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28. See
    /// [`freshness`](mcp_proto::model::freshness).
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// The result of `resources/templates/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ListResourceTemplatesResult", rename_all = "camelCase")]
pub struct ListResourceTemplatesResult {
    /// A page of templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page begins; even an empty one is a cursor (`PN-04`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28. See
    /// [`freshness`](mcp_proto::model::freshness).
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}
