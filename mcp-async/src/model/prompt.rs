//! Prompts, and pages of them.

use mcp_proto::model::Role;
use serde::{Deserialize, Serialize};

use super::{CacheScope, Content, Cursor, Icon, Meta, lenient};

/// A text with gaps that a server offers to people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:Prompt", rename_all = "camelCase")]
pub struct Prompt {
    /// What it is asked for by.
    pub name: String,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its gaps.
    #[serde(
        default,
        deserialize_with = "lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub arguments: Vec<PromptArgument>,
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

impl Prompt {
    /// A name, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// A gap in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptArgument", rename_all = "camelCase")]
pub struct PromptArgument {
    /// What it is filled in by.
    pub name: String,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be filled.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "lenient::is_false"
    )]
    pub required: bool,
}

impl PromptArgument {
    /// A gap that may stay empty.
    pub fn optional(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// A gap that must be filled.
    pub fn required(name: impl Into<String>) -> Self {
        Self {
            required: true,
            ..Self::optional(name)
        }
    }
}

/// The result of `prompts/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ListPromptsResult", rename_all = "camelCase")]
pub struct ListPromptsResult {
    /// A page of prompts.
    pub prompts: Vec<Prompt>,
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

/// The result of `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:GetPromptResult", rename_all = "camelCase")]
pub struct GetPromptResult {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to give to the model.
    pub messages: Vec<PromptMessage>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl From<Vec<PromptMessage>> for GetPromptResult {
    fn from(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptMessage", rename_all = "camelCase")]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What they say.
    pub content: Content,
}

impl PromptMessage {
    /// What the person says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }
}
