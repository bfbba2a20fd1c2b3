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
mod lenient;
mod logging;
mod meta;
mod notification;
mod open;
mod page;
mod prompt;
mod read_resource;
mod resource;
mod result_type;
mod root;
mod sampling;
mod sampling_content;
mod server_capabilities;
mod subscription;
mod task;
mod tool;

pub use annotations::{Annotations, Role};
pub use call_tool::{CallToolParams, CallToolResult};
pub use client_capabilities::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, RootsCapability, SamplingCapability, SamplingTasks,
};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    PromptReference, Reference, ResourceReference,
};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};
pub use elicitation::{
    ElicitAction, ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams,
    ElicitationCompleteParams, FormValue,
};
pub use elicitation_schema::{
    BooleanSchema, ElicitationSchema, NumberSchema, NumberType, ObjectType, PrimitiveSchema,
    StringFormat, StringSchema,
};
pub use enum_schema::{Choice, Choices, EnumSchema, MultiEnumSchema};
pub use error_data::{
    MissingCapabilitiesData, UnsupportedVersionData, UrlElicitationData, is_resource_not_found,
};
pub(crate) use features::Unanswerable;
pub use features::{ClientFeatures, ServerFeatures};
pub use form_check::{FieldFault, FieldMismatch};
pub use icon::{Icon, Theme};
pub use implementation::Implementation;
pub use initialize::{DiscoverResult, InitializeParams, InitializeResult};
pub use input::{
    InputRequest, InputRequests, InputRequired, InputRequiredResult, InputResponse, InputResponses,
    RequestState,
};
pub use logging::{LoggingLevel, LoggingMessageParams, SetLevelParams};
pub use meta::{Meta, RequestMeta, ResultMeta, Settings, keys};
pub use notification::{CancelledParams, EmptyParams, ProgressParams};
pub use page::{CacheScope, PageParams, freshness};
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use read_resource::{
    BlobResourceContents, ReadResourceParams, ReadResourceResult, ResourceContents, ResourceParams,
    TextResourceContents,
};
pub use resource::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
pub use result_type::ResultType;
pub use root::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
};
pub use sampling_content::{SamplingBlock, SamplingContent, ToolResultContent, ToolUseContent};
pub use server_capabilities::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ServerTaskRequests,
    ServerTasksCapability, ToolTasks, ToolsCapability,
};
pub use subscription::{AcknowledgedParams, ListenParams, SubscriptionFilter};
pub use task::{
    CreateTaskResult, DetailedTask, ListTasksResult, Task, TaskMetadata, TaskParams, TaskStatus,
    UpdateTaskParams,
};
pub use tool::{ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution};
