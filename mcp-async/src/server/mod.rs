//! The server role.
//!
//! Most programs use [`Server`](crate::Server), with typed handlers. It stands on an untyped layer:
//! [`connect`] returns a [`Connection`], the future that does the work, and a
//! [`Peer`], which sends to the client; a [`Service`] answers the calls.
//!
//! ```text
//! serving      the builder, and a built server on its transports
//! router       from a method to its handler
//! registry     what all connections of a server share, and how it changes while it serves
//! connection   one connection: its future, its machine, and the service that answers
//! extension    extensions of the protocol
//! background   work apart from connections
//! layers       services around services
//! items        tools, resources, templates, prompts and methods
//! questions    what handlers ask their client
//! call         one call, as a handler sees it
//! rounds       the state of a call that asks
//! caller       the client that calls
//! ownership    leases of sessions and tasks, by the clock of this process
//! ```
//!
//! Each imports from those below it only.

mod call;
mod caller;
mod connection;
mod items;
mod ownership;
mod questions;
mod rounds;

pub mod layers;

pub(crate) mod background;
mod extension;
mod registry;
mod router;
pub(crate) mod serving;

pub use self::call::context::CallContext;
pub use self::call::forwarded::Forwarded;
pub use self::call::listen::Listen;
pub use self::call::reply::{InputRequired, Reply, Settled};
pub use self::call::service::{Call, Service, ServiceFn, service_fn};
pub use self::call::subscriber::Subscriber;
pub use self::call::tell::{LogMessage, ProgressUpdate};
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) use self::caller::access::Access;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use self::caller::access::MissingScopes;
pub use self::caller::ask::{Ask, AskError};
pub(crate) use self::caller::client_info::SessionClient;
pub use self::caller::peer::Peer;
pub(crate) use self::caller::peer::WeakPeer;
pub use self::caller::principal::Principal;
pub use self::connection::stdio::serve_stdio;
pub(crate) use self::connection::streams::ServerStreams;
pub use self::connection::{Connection, connect};
pub(crate) use self::ownership::Decision;
pub(crate) use self::ownership::{Ownership, jitter};
pub(crate) use self::questions::check_answer;
pub use self::questions::{Elicited, QuestionFuture, RequestState, Roots, StateError};
pub(crate) use self::registry::announcement::Announcement;
#[cfg(test)]
pub(crate) use self::registry::announcement::List;
pub(crate) use self::rounds::DerivedKeys;
pub use self::rounds::StateKeys;
pub use self::serving::transport::{Transport, stdio};

pub use mcp_proto::server::ListKind;

pub use self::background::Background;
pub use self::call::detached::{DetachedCall, OpenQuestion};
pub use self::call::detached_host::Detach;
pub(crate) use self::call::detached_host::MayLeave;
pub use self::call::handler_context::Context;
pub use self::call::handler_error::HandlerError;
pub use self::call::output::{Json, ToolOutput};
pub use self::call::service::BoxService;
pub use self::caller::rate::{RateLimit, RateLimits};
pub use self::extension::{Cached, Extension, ExtensionMethod, NotificationContext};
pub use self::items::completion::{CompletionOutput, CompletionRequest};
pub use self::items::folder::Folder;
pub use self::items::item::Item;
pub use self::items::prompt::{Prompt, PromptOutput};
pub use self::items::register_error::RegisterError;
pub use self::items::resource::{Resource, ResourceOutput};
pub use self::items::template::{MatchedUri, Template};
pub use self::items::tool::Tool;
pub use self::items::tool_call::ToolCall;
pub use self::registry::Registry;
pub use self::registry::principal_peers::PrincipalPeers;
pub use self::serving::build_error::BuildError;
pub use self::serving::builder::ServerBuilder;

pub(crate) use self::caller::Machine;
pub(crate) use self::caller::buckets::Buckets;
pub(crate) use self::caller::live::Live;
pub(crate) use self::connection::role::ServerRole;
pub(crate) use self::registry::declare::Caller;
#[cfg(feature = "http-server")]
pub(crate) use self::router::CallBuckets;
