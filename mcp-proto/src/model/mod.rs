//! The payloads of messages in every revision: parameters, results and their parts.
//!
//! Every type borrows from its message and is `Copy`. Text of a peer is
//! [`Str`](crate::json::Str), still escaped; lists and maps are read during iteration; values that
//! the protocol does not specify stay [`Raw`](crate::json::Raw).
//! [`Raw::decode`](crate::json::Raw::decode) fills the types leniently: unknown members are skipped,
//! and `null` counts as absent unless it has a meaning of its own.
//!
//! One type serves all revisions. The serializer omits members that the revision of a message lacks
//! ([`fields`](crate::revision::fields)).
//!
//! | Since | Added |
//! |---|---|
//! | 2024-11-05 | tools, resources, prompts, completion, logging, roots, sampling, progress |
//! | 2025-03-26 | tool annotations, audio, the message of progress |
//! | 2025-06-18 | titles, structured content, resource links, elicitation, `_meta` everywhere |
//! | 2025-11-25 | icons, tools in sampling, pages to visit, choices with titles, tasks (only there) |
//! | 2026-07-28 | discovery, questions inside of results, listening, caching, any structured content |
//!
//! Begin with the parameters and the result of a method:
//!
//! | Method | Parameters | Result |
//! |---|---|---|
//! | `initialize` | [`InitializeParams`] | [`InitializeResult`] |
//! | `server/discover` | [`EmptyParams`] | [`DiscoverResult`] |
//! | `tools/list` | [`PageParams`] | [`ListToolsResult`] |
//! | `tools/call` | [`CallToolParams`] | [`CallToolResult`] |
//! | `resources/list` | [`PageParams`] | [`ListResourcesResult`] |
//! | `resources/templates/list` | [`PageParams`] | [`ListResourceTemplatesResult`] |
//! | `resources/read` | [`ReadResourceParams`] | [`ReadResourceResult`] |
//! | `resources/subscribe`, `resources/unsubscribe` | [`ResourceParams`] | [`EmptyParams`] |
//! | `prompts/list` | [`PageParams`] | [`ListPromptsResult`] |
//! | `prompts/get` | [`GetPromptParams`] | [`GetPromptResult`] |
//! | `completion/complete` | [`CompleteParams`] | [`CompleteResult`] |
//! | `logging/setLevel` | [`SetLevelParams`] | [`EmptyParams`] |
//! | `subscriptions/listen` | [`ListenParams`] | [`EmptyParams`] |
//! | `sampling/createMessage` | [`CreateMessageParams`] | [`CreateMessageResult`] |
//! | `elicitation/create` | [`ElicitParams`] | [`ElicitResult`] |
//! | `roots/list` | [`EmptyParams`] | [`ListRootsResult`] |
//! | `tasks/get`, `tasks/cancel` | [`TaskParams`] | [`Task`], [`DetailedTask`] |
//! | `tasks/list` | [`PageParams`] | [`ListTasksResult`] |
//!
//! ```
//! use mcp_proto::Revision;
//! use mcp_proto::json::{Raw, Writer};
//! use mcp_proto::model::{CallToolParams, CallToolResult, ContentBlock};
//!
//! let params = Raw::parse(br#"{"name":"forecast","arguments":{"city":"Kyoto"}}"#, 8)?;
//! let params: CallToolParams<'_> = params.decode(&mut [])?;
//! assert_eq!(params.name, "forecast");
//!
//! let content = [ContentBlock::text("sunny")];
//! let result = CallToolResult {
//!     content: content.as_slice().into(),
//!     structured_content: Some(Raw::EMPTY_OBJECT),
//!     ..CallToolResult::default()
//! };
//! let mut out = [0; 128];
//! let mut writer = Writer::new(&mut out);
//! // This revision has no structured content.
//! writer.value(&result, Some(Revision::V2025_03_26))?;
//! let len = writer.finish()?;
//! assert_eq!(&out[..len], br#"{"content":[{"type":"text","text":"sunny"}]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod call_tool;
mod client_capabilities;
mod completion;
mod content;
mod elicitation;
mod elicitation_schema;
mod enum_schema;
mod error_data;
mod features;
mod form_check;
mod icon;
mod implementation;
mod initialize;
mod input;
mod kind;
mod lenient;
mod logging;
mod logging_level;
mod meta;
mod notification;
mod open;
mod page;
mod prompt;
mod read_resource;
mod resource;
mod resource_contents;
mod result_type;
mod root;
mod sampling;
mod sampling_content;
mod server_capabilities;
mod settings;
mod subscription;
mod task;
mod task_metadata;
mod tool;

// Opening, and what each side can do.
pub use client_capabilities::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, RootsCapability, SamplingCapability, SamplingTasks,
};
pub use features::{ClientFeatures, ServerFeatures};
pub use implementation::Implementation;
pub use initialize::{DiscoverResult, InitializeParams, InitializeResult};
pub use server_capabilities::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ServerTaskRequests,
    ServerTasksCapability, ToolTasks, ToolsCapability,
};

// Tools, resources and prompts.
pub use call_tool::{CallToolParams, CallToolResult};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    PromptReference, Reference, ResourceReference,
};
pub use page::{CacheScope, PageParams, freshness};
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use read_resource::{ReadResourceParams, ReadResourceResult, ResourceParams};
pub use resource::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
pub use resource_contents::{BlobResourceContents, ResourceContents, TextResourceContents};
pub use tool::{ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution};

// Content.
pub use annotations::{Annotations, Role};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};
pub use icon::{Icon, Theme};

// Questions to the client.
pub use elicitation::{
    ElicitAction, ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams,
    ElicitationCompleteParams, FormValue,
};
pub use elicitation_schema::{
    BooleanSchema, ElicitationSchema, NumberSchema, NumberType, ObjectType, PrimitiveSchema,
    StringFormat, StringSchema,
};
pub use enum_schema::{Choice, Choices, EnumSchema, MultiEnumSchema};
pub use form_check::{FieldFault, FieldMismatch};
pub use input::{
    InputRequest, InputRequests, InputRequiredResult, InputRequiredTag, InputResponse,
    InputResponses, RequestState,
};
pub use root::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
};
pub use sampling_content::{SamplingBlock, SamplingContent, ToolResultContent, ToolUseContent};

// Notifications, logs and subscriptions.
pub use logging::{LoggingMessageParams, SetLevelParams};
pub use logging_level::LoggingLevel;
pub use notification::{CancelledParams, EmptyParams, ProgressParams};
pub use subscription::{AcknowledgedParams, ListenParams, SubscriptionFilter};

// Tasks.
pub use task::{
    CreateTaskResult, DetailedTask, ListTasksResult, Task, TaskParams, TaskStatus, UpdateTaskParams,
};
pub use task_metadata::TaskMetadata;

// What messages have in common, and the data of errors.
pub use error_data::{
    MissingCapabilitiesData, UnsupportedVersionData, UrlElicitationData, is_resource_not_found,
};
pub use meta::{Meta, RequestMeta, ResultMeta, keys};
pub use result_type::ResultType;
pub use settings::Settings;

pub(crate) use features::{TASKS_EXTENSION, Unanswerable};
