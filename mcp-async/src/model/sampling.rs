//! Sampling: requests to the model of the client.

use mcp_proto::json::RawBuf;
use mcp_proto::model::Role;
use serde::{Deserialize, Serialize};

use super::open::open_enum;
use super::{Meta, SamplingContent, Tool, lenient};

/// The parameters of `sampling/createMessage`.
///
/// ```
/// use mcp_async::model::{CreateMessageParams, SamplingMessage};
///
/// let params = CreateMessageParams {
///     system_prompt: Some("Answer with one word.".into()),
///     ..CreateMessageParams::new(vec![SamplingMessage::user("Which city is this about?")], 100)
/// };
/// assert_eq!(params.max_tokens, 100);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateMessageParams", rename_all = "camelCase")]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens to sample; a client may sample fewer (`SP-08`).
    pub max_tokens: u64,
    /// What kind of model is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// A system prompt, which a client may change (`SP-10`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Whose context to add (`SP-04`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// How freely to sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts at which to stop.
    #[serde(
        default,
        deserialize_with = "lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub stop_sequences: Vec<String>,
    /// Anything for the provider of the model.
    #[serde(
        default,
        deserialize_with = "lenient::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<RawBuf>,
    /// Tools that the model may use (`SP-03`); since 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub tools: Vec<Tool>,
    /// Whether it has to; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl CreateMessageParams {
    /// Creates a request to continue this conversation, with a maximum number of tokens.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            ..Self::default()
        }
    }
}

/// A message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:SamplingMessage", rename_all = "camelCase")]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What they say.
    pub content: SamplingContent,
    /// Anything else; since 2025-11-25.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl SamplingMessage {
    /// What the person says.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
            meta: Meta::new(),
        }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            ..Self::user(content)
        }
    }
}

/// What kind of model is wanted. The hints come first, in their order (`SP-09`).
///
/// ```
/// use mcp_async::model::{ModelHint, ModelPreferences};
///
/// let preferences = ModelPreferences {
///     hints: vec![ModelHint::new("sonnet"), ModelHint::new("claude")],
///     ..ModelPreferences::default()
/// };
/// let models = ["claude-3-5-haiku", "claude-3-5-sonnet"];
/// assert_eq!(preferences.select(&models), Some("claude-3-5-sonnet"));
/// assert_eq!(preferences.select(&["llama"]), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ModelPreferences", rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Names or parts of names of models, the best first.
    #[serde(
        default,
        deserialize_with = "lenient::known",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub hints: Vec<ModelHint>,
    /// How much low cost matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// How much capability matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// The model that the first fitting hint names: the hints in their order, each a part of a
    /// name (`SP-09`). `None` leaves the choice to the priorities, or to the client.
    pub fn select<'m>(&self, models: &[&'m str]) -> Option<&'m str> {
        let names = self.hints.iter().filter_map(|hint| hint.name.as_deref());
        let mut found = names
            .filter(|name| !name.is_empty())
            .filter_map(|name| models.iter().find(|model| model.contains(name)));
        found.next().copied()
    }
}

/// A name of a model, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:ModelHint", rename_all = "camelCase")]
pub struct ModelHint {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ModelHint {
    /// A name of a model, or a part of one.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
        }
    }
}

/// Whether a model has to use tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolChoice", rename_all = "camelCase")]
pub struct ToolChoice {
    /// It may, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

open_enum! {
    /// Whether a model has to use tools.
    pub enum ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

open_enum! {
    /// Whose context a client adds; all but none need `sampling.context` and are on their way
    /// out since 2025-11-25 (`SP-04`).
    pub enum IncludeContext {
        /// Nobody's.
        None = "none",
        /// That of the server that asks.
        ThisServer = "thisServer",
        /// That of every server.
        AllServers = "allServers",
    }
}

/// The result of `sampling/createMessage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateMessageResult", rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Who says it: the model.
    pub role: Role,
    /// What it says.
    pub content: SamplingContent,
    /// The model that was used.
    pub model: String,
    /// Why it stopped, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

impl CreateMessageResult {
    /// What a model says.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: Meta::new(),
        }
    }
}

open_enum! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It had no more to say.
        EndTurn = "endTurn",
        /// It came to one of the texts to stop at.
        StopSequence = "stopSequence",
        /// It was not to say more.
        MaxTokens = "maxTokens",
        /// It wants to use a tool; since 2025-11-25.
        ToolUse = "toolUse",
    }
}
