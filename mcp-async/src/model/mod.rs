//! The payloads of messages as owned types.
//!
//! They have the names of the borrowed types in [`mcp_proto::model`], and serve values that outlive
//! their message or are built step by step. They follow the rules of the borrowed types: members
//! that a revision lacks are omitted or replaced by a note, unknown members are skipped,
//! `null` counts as absent, and blocks of unknown types are kept unchanged.
//!
//! Only the [`Deserializer`](mcp_proto::json::Deserializer) of the protocol can fill them, through
//! [`RawBuf::decode`](mcp_proto::json::RawBuf::decode) or
//! [`Raw::decode`](mcp_proto::json::Raw::decode).
//!
//! ```
//! use mcp_async::model::CallToolResult;
//! use mcp_async::json::RawBuf;
//!
//! let answer = RawBuf::parse(r#"{"content":[{"type":"text","text":"sunny"}]}"#)?;
//! let result: CallToolResult = answer.decode()?;
//! assert_eq!(result.text(), "sunny");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod call_tool;
mod completion;
mod content;
mod conversation;
mod cursor;
mod elicitation;
pub mod form;
mod icon;
mod implementation;
mod meta;
mod owned;
mod prompt;
mod read_resource;
mod resource;
mod root;
mod sampling;
mod sampling_content;
mod task;
mod tool;

use mcp_proto::json::RawBuf;
pub use mcp_proto::model::{
    CacheScope, ClientFeatures, ElicitAction, LoggingLevel, Role, ServerFeatures, TaskStatus,
};
use owned::{owned, owned_name, owned_type};

pub use base64::{Base64, InvalidBase64};
pub(crate) use conversation::check_conversation;
pub use cursor::Cursor;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) use implementation::implementation_setters;
pub use meta::Meta;
pub use sampling_content::SamplingContent;

mcp_proto::declare_payloads!(owned);

macro_rules! without_floats {
    ($($name:ident)*) => {
        $(impl Eq for $name {})*
    };
}

without_floats! {
    Completion Icon Implementation ListRootsResult ModelHint PromptArgument PromptReference Reference
    ResourceReference Root SubscriptionFilter ToolAnnotations ToolChoice ToolExecution
}
