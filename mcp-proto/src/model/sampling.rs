//! Sampling: requests to the model of the client.

use serde::{Deserialize, Serialize};

use super::open::open_enum;
use super::{Meta, Role, SamplingContent, TaskMetadata, Tool};
use crate::json::{List, Object, Str};

/// The parameters of `sampling/createMessage`: a request of its own until 2025-11-25, a question
/// of an `input_required` since.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateMessageParams", rename_all = "camelCase")]
pub struct CreateMessageParams<'b> {
    /// The conversation so far.
    #[serde(borrow)]
    pub messages: List<'b, SamplingMessage<'b>>,
    /// The most tokens to sample; a client may sample fewer (SP-08).
    pub max_tokens: u64,
    /// What kind of model is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences<'b>>,
    /// A system prompt, which a client may change (SP-10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<Str<'b>>,
    /// Whose context to add (SP-04).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext<'b>>,
    /// How freely to sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts at which to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<List<'b, Str<'b>>>,
    /// Anything for the provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object<'b>>,
    /// Tools that the model may use (SP-03); since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<List<'b, Tool<'b>>>,
    /// Whether it has to; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'b>>,
    /// Asks for a task; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Progress token and anything else; until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// A message of a conversation with a model.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:SamplingMessage", rename_all = "camelCase")]
pub struct SamplingMessage<'b> {
    /// Who says it.
    pub role: Role,
    /// What they say.
    #[serde(borrow)]
    pub content: SamplingContent<'b>,
    /// Anything else; since 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// What kind of model is wanted. A client tries the hints in their order first (SP-09).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ModelPreferences", rename_all = "camelCase")]
pub struct ModelPreferences<'b> {
    /// Names or parts of names of models, the best first.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub hints: Option<List<'b, ModelHint<'b>>>,
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

/// A name of a model, or a part of one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ModelHint", rename_all = "camelCase")]
pub struct ModelHint<'b> {
    /// The name.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub name: Option<Str<'b>>,
}

/// Whether a model has to use tools.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolChoice", rename_all = "camelCase")]
pub struct ToolChoice<'b> {
    /// It may, if nothing is said.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode<'b>>,
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
    /// out since 2025-11-25 (SP-04).
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
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:CreateMessageResult", rename_all = "camelCase")]
pub struct CreateMessageResult<'b> {
    /// Who says it: the model.
    pub role: Role,
    /// What it says.
    #[serde(borrow)]
    pub content: SamplingContent<'b>,
    /// The model that was used.
    pub model: Str<'b>,
    /// Why it stopped, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason<'b>>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
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
