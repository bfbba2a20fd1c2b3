//! The payloads of messages in every revision: parameters, results and their parts.
//!
//! Every type borrows from its message and is `Copy`. Text of a peer is
//! [`Str`], still escaped; lists and maps are read during iteration; values that
//! the protocol does not specify stay [`Raw`].
//! [`Raw::decode`](crate::json::Raw::decode) fills the types leniently: unknown members are skipped,
//! and `null` counts as absent unless it has a meaning of its own.
//!
//! One type serves all revisions. The serializer omits members that the revision of a message lacks.
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
//! | `tools/call` | [`CallToolParams`] | [`CallToolResult`], [`TextResult`] |
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
//! use mcp_proto::model::{CallToolParams, CallToolResult, Content};
//!
//! let params = Raw::parse(br#"{"name":"forecast","arguments":{"city":"Kyoto"}}"#, 8)?;
//! let params: CallToolParams<'_> = params.decode(&mut [])?;
//! assert_eq!(params.name, "forecast");
//!
//! let content = [Content::text("sunny")];
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

mod completion;
mod content;
#[doc(hidden)]
pub mod declare;
mod elicitation;
mod elicitation_schema;
mod enum_schema;
mod error_data;
mod form_check;
mod implementation;
mod initialize;
mod input;
mod meta;
mod notification;
mod open;
mod page;
mod prompt;
mod protocol_meta;
mod resource;
mod root;
#[doc(hidden)]
pub mod rules;
mod sampling;
mod task;
mod tool;
#[doc(hidden)]
pub mod union;

use declare::{borrowed, borrowed_name, borrowed_type};

use crate::json::{List, Map, Number, Object, Raw, Str};
use crate::rpc::Id;

pub use content::Role;
pub use elicitation::{ElicitAction, FormValue};
pub use elicitation_schema::{NumberType, ObjectType, PrimitiveSchema};
pub use enum_schema::{Choices, EnumSchema, MultiEnumSchema};
pub use error_data::is_resource_not_found;
pub use form_check::{FieldFault, FieldMismatch};
pub use input::{InputRequest, InputRequiredTag, RequestState};
pub use meta::{Meta, keys};
pub use notification::LoggingLevel;
pub use page::{CacheScope, freshness};
pub use sampling::SamplingContent;
#[doc(hidden)]
pub use sampling::{read_blocks, write_blocks};
pub use task::{TaskMetadata, TaskStatus};
pub use tool::TextResult;

pub(crate) use implementation::WriteDirect;
pub(crate) use protocol_meta::{
    MetaEvidence, ProtocolMeta, RequestMembers, is_modern_key, is_trace_key, write_request_meta,
};

pub use crate::features::{
    ClientCapabilities, ClientFeatures, ServerCapabilities, ServerFeatures, Settings,
};

crate::declare_payloads!(borrowed);
