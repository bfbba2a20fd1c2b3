//! Sampling: requests to the model of the client.

use serde::de::Error;
use serde::ser::SerializeTupleStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{SamplingBlock, TextContent};
use crate::json::{DecodeError, Kind, List, Raw};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_sampling {
    ($form:ident) => {
        $form! {
            /// The parameters of `sampling/createMessage`: a request of its own until 2025-11-25,
            /// since then a question of an `input_required`.
            #[derive(Debug, Default)]
            struct CreateMessageParams {
                /// The conversation so far.
                messages: List<SamplingMessage>,
                /// The most tokens to sample; a client may sample fewer.
                max_tokens "maxTokens": u64,
                /// The kind of model that is wanted.
                model_preferences "modelPreferences": Option<ModelPreferences>,
                /// The system prompt, which a client may change.
                system_prompt "systemPrompt": Option<Text>,
                /// The servers whose context to add.
                include_context "includeContext": Option<IncludeContext>,
                /// The temperature of sampling.
                temperature: Option<f64>,
                /// The texts at which to stop.
                stop_sequences "stopSequences": Items<Text>,
                /// Data for the provider of the model.
                metadata: Option<Object>,
                /// The tools that the model may use; since 2025-11-25.
                tools: Items<Tool> [SINCE_2025_11],
                /// The duty to use a tool; since 2025-11-25.
                tool_choice "toolChoice": Option<ToolChoice> [SINCE_2025_11],
                /// The progress token and further members; until 2025-11-25.
                meta "_meta": Meta [LEGACY],
            } core {
                /// The request for a task; 2025-11-25 only.
                task: Option<TaskMetadata> [ONLY_2025_11],
            }

            /// A message of a conversation with a model.
            #[derive(Debug)]
            struct SamplingMessage {
                /// The speaker.
                role: Role,
                /// The content.
                content: SamplingContent,
                /// Further members; since 2025-11-25.
                meta "_meta": Meta [SINCE_2025_11],
            }

            /// The kind of model that is wanted. A client tries the hints first, in their order.
            #[derive(Debug, Default)]
            struct ModelPreferences {
                /// Names or parts of names of models, the best first.
                hints: Hints<ModelHint>,
                /// The importance of low cost, from 0 to 1.
                cost_priority "costPriority": Option<f64>,
                /// The importance of speed, from 0 to 1.
                speed_priority "speedPriority": Option<f64>,
                /// The importance of capability, from 0 to 1.
                intelligence_priority "intelligencePriority": Option<f64>,
            }

            /// A name of a model, or a part of one.
            #[derive(Debug, Default)]
            struct ModelHint {
                /// The name.
                name: Option<Text>,
            }

            /// The duty of a model to use tools.
            #[derive(Debug, Default)]
            struct ToolChoice {
                /// The mode; absent means `auto`.
                mode: Option<ToolChoiceMode>,
            }

            /// The result of `sampling/createMessage`.
            #[derive(Debug)]
            struct CreateMessageResult {
                /// The speaker: the model.
                role: Role,
                /// The content.
                content: SamplingContent,
                /// The model that was used.
                model: Text,
                /// The reason why it stopped, if known.
                stop_reason "stopReason": Option<StopReason>,
                /// Further members.
                meta "_meta": Meta,
            }

            /// A request of a model to use a tool; since 2025-11-25, before that its name as a
            /// text.
            #[derive(Debug, Default)]
            struct ToolUseContent ["type" SINCE_2025_11, TypeText] {
                /// The id, which the result refers to.
                id: Text [SINCE_2025_11],
                /// The name of the tool.
                name: Text [SINCE_2025_11, NameText],
                /// The arguments, an object.
                input: Object [SINCE_2025_11],
                /// Further members, to be preserved in later requests.
                meta "_meta": Meta [SINCE_2025_11],
            }

            /// The result of a tool for a model; since 2025-11-25, before that a note in text.
            #[derive(Debug, Default)]
            struct ToolResultContent ["type" SINCE_2025_11, TypeText] {
                /// The id of the use that it answers.
                tool_use_id "toolUseId": Text [SINCE_2025_11, ToolResultNote],
                /// The content for the model.
                content: Blocks<Content> [SINCE_2025_11],
                /// The content for programs: an object, and since 2026-07-28 any value.
                structured_content "structuredContent": Structured [SINCE_2025_11, any SINCE_2026_07],
                /// True if the tool failed.
                is_error "isError": Flag [SINCE_2025_11],
                /// Further members, to be preserved in later requests.
                meta "_meta": Meta [SINCE_2025_11],
            }
            ;
            /// A block of a message of a conversation with a model.
            enum SamplingBlock by "type" {
                /// Text.
                Text(TextContent) = "text",
                /// A picture.
                Image(ImageContent) = "image",
                /// Sound; since 2025-03-26.
                Audio(AudioContent) = "audio",
                /// A request of the model to use a tool; since 2025-11-25.
                ToolUse(ToolUseContent) = "tool_use",
                /// The result of the tool; since 2025-11-25.
                ToolResult(ToolResultContent) = "tool_result",
            }
            ;
            /// The duty of a model to use tools.
            names ToolChoiceMode {
                /// The model decides.
                Auto = "auto",
                /// The model must use at least one tool.
                Required = "required",
                /// The model must not use tools.
                None = "none",
            }

            /// The servers whose context a client adds. All but `none` need the capability
            /// `sampling.context` and are deprecated since 2025-11-25.
            names IncludeContext {
                /// No server.
                None = "none",
                /// The server that asks.
                ThisServer = "thisServer",
                /// All servers.
                AllServers = "allServers",
            }

            /// The reason why a model stopped.
            names StopReason {
                /// The answer is complete.
                EndTurn = "endTurn",
                /// One of the texts at which to stop.
                StopSequence = "stopSequence",
                /// The most tokens.
                MaxTokens = "maxTokens",
                /// The wish to use a tool; since 2025-11-25.
                ToolUse = "toolUse",
            }
        }
    };
}

/// One block, or since 2025-11-25 a list of them. To an older peer the first block of a list is
/// sent alone (SP-13).
#[derive(Clone, Copy, Debug)]
pub enum SamplingContent<'b> {
    /// One block.
    One(SamplingBlock<'b>),
    /// A list of blocks.
    Many(List<'b, SamplingBlock<'b>>),
}

impl<'b> SamplingContent<'b> {
    /// Creates a block of text.
    pub fn text(text: &'b str) -> Self {
        Self::One(SamplingBlock::text(text))
    }
}

impl Serialize for SamplingContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => write_blocks(blocks.len(), blocks.iter(), serializer),
        }
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for SamplingContent<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_blocks(deserializer, Self::One, Self::Many)
    }
}

/// Writes a list of blocks, of which some revisions have the first alone.
#[doc(hidden)]
pub fn write_blocks<T: Serialize, S: Serializer>(
    count: usize,
    blocks: impl Iterator<Item = Result<T, DecodeError>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if count == 0 {
        // Revisions that have a single block need one, so an empty list is written as an empty
        // text.
        return SamplingBlock::text("").serialize(serializer);
    }
    let mut list = serializer.serialize_tuple_struct("mcp:Blocks", count)?;
    for block in blocks {
        list.serialize_field(&block.map_err(serde::ser::Error::custom)?)?;
    }
    list.end()
}

/// Reads one block or a list of them.
#[doc(hidden)]
pub fn read_blocks<'de, D: Deserializer<'de>, B: Deserialize<'de>, L: Deserialize<'de>, T>(
    deserializer: D,
    one: impl FnOnce(B) -> T,
    many: impl FnOnce(L) -> T,
) -> Result<T, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    match raw.kind() {
        Kind::Array => raw.decode(&mut []).map(many),
        _ => raw.decode(&mut []).map(one),
    }
    .map_err(D::Error::custom)
}

impl<'b> SamplingBlock<'b> {
    /// Creates a block of text.
    pub fn text(text: &'b str) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            ..TextContent::default()
        })
    }
}
