//! The payloads of messages as owned types.
//!
//! They have the names of the borrowed types in [`mcp_proto::model`], and serve values that outlive
//! their message or are built step by step. The same rules apply: members that a revision lacks are
//! omitted or replaced by a note (`TL-17`), unknown members are skipped, `null` counts as absent,
//! and blocks of unknown types are kept unchanged.
//!
//! Only the [`Deserializer`](mcp_proto::json::Deserializer) of the protocol can fill them, through
//! [`RawBuf::decode`](mcp_proto::json::RawBuf::decode) or
//! [`Raw::decode`](mcp_proto::json::Raw::decode).
//!
//! ```
//! use mcp_async::model::CallToolResult;
//! use mcp_proto::json::RawBuf;
//!
//! let answer = RawBuf::parse(r#"{"content":[{"type":"text","text":"sunny"}]}"#)?;
//! let result: CallToolResult = answer.decode()?;
//! assert_eq!(result.text(), "sunny");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod base64;
mod call_tool;
mod completion;
mod content;
mod cursor;
mod elicitation;
mod icon;
mod implementation;
mod lenient;
mod logging;
mod meta;
mod open;
mod prompt;
mod read_resource;
mod resource;
mod root;
mod sampling;
mod sampling_content;
mod subscription;
mod task;
mod tool;

pub use mcp_proto::model::{
    CacheScope, ClientFeatures, ElicitAction, LoggingLevel, Role, ServerFeatures, TaskStatus,
};

pub use annotations::Annotations;
pub use base64::{Base64, InvalidBase64};
pub use call_tool::CallToolResult;
pub use completion::{CompleteResult, Completion, Reference};
pub use content::{
    AudioContent, Content, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};
pub use cursor::Cursor;
pub use elicitation::{ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams};
pub use icon::{Icon, Theme};
pub use implementation::Implementation;
pub use logging::LoggingMessageParams;
pub use meta::Meta;
pub use prompt::{GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage};
pub use read_resource::{
    BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};
pub use resource::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
pub use root::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
};
pub use sampling_content::{SamplingBlock, SamplingContent, ToolResultContent, ToolUseContent};
pub use subscription::SubscriptionFilter;
pub use task::{CreateTaskResult, DetailedTask, ListTasksResult, Task};
pub use tool::{ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution};
