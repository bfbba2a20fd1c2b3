//! Prompts, and pages of them.

use serde::{Deserialize, Serialize};

use super::{CacheScope, ContentBlock, Icon, InputResponses, Meta, RequestState, Role, lenient};
use crate::json::{List, Map, Str};

/// A text with gaps that a server offers to people.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Prompt", rename_all = "camelCase")]
pub struct Prompt<'b> {
    /// What it is asked for by.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Its gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<List<'b, PromptArgument<'b>>>,
    /// Pictures of it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl<'b> Prompt<'b> {
    /// A name, and nothing else.
    pub fn new(name: &'b str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// What to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}

/// A gap in a prompt.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptArgument", rename_all = "camelCase")]
pub struct PromptArgument<'b> {
    /// What it is filled in by.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What goes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// Whether it must be filled.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub required: bool,
}

/// The result of `prompts/list`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListPromptsResult", rename_all = "camelCase")]
pub struct ListPromptsResult<'b> {
    /// A page of prompts.
    #[serde(borrow)]
    pub prompts: List<'b, Prompt<'b>>,
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

/// The parameters of `prompts/get`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:GetPromptParams", rename_all = "camelCase")]
pub struct GetPromptParams<'b> {
    /// The prompt.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What goes into its gaps: text only (PR-08).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<'b, Str<'b>>>,
    /// The answers to an `input_required`; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses<'b>>,
    /// What came with it, unchanged (MR-11); since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<RequestState<'b>>,
    /// Progress token and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The result of `prompts/get`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:GetPromptResult", rename_all = "camelCase")]
pub struct GetPromptResult<'b> {
    /// What it is for.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// What to give to the model.
    pub messages: List<'b, PromptMessage<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A message of a prompt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptMessage", rename_all = "camelCase")]
pub struct PromptMessage<'b> {
    /// Who says it.
    pub role: Role,
    /// What they say.
    #[serde(borrow)]
    pub content: ContentBlock<'b>,
}
