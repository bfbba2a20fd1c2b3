//! The server role.
//!
//! Most programs use [`Server`](crate::Server), with typed handlers. It stands on an untyped layer,
//! which needs no feature: [`connect`] returns a [`Connection`], the future that does the work, and a
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
#[cfg(feature = "server")]
mod items;
#[cfg(feature = "server")]
mod ownership;
#[cfg(feature = "server")]
mod questions;
#[cfg(feature = "server")]
mod rounds;

pub mod layers;

#[cfg(feature = "server")]
pub(crate) mod background;
#[cfg(feature = "server")]
mod extension;
#[cfg(feature = "server")]
mod registry;
#[cfg(feature = "server")]
mod router;
#[cfg(feature = "server")]
pub(crate) mod serving;

pub use self::call::context::CallContext;
pub use self::call::listen::Listen;
pub use self::call::listener::Listener;
pub use self::call::reply::{Input, Reply, Settled};
pub use self::call::service::{Call, Service, ServiceFn, service_fn};
pub use self::call::tell::{LogMessage, ProgressUpdate};
#[cfg(feature = "http-server")]
pub(crate) use self::caller::about::SessionClient;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) use self::caller::access::Access;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use self::caller::access::MissingScopes;
pub use self::caller::ask::{Ask, AskError};
pub use self::caller::peer::Peer;
#[cfg(feature = "server")]
pub(crate) use self::caller::peer::WeakPeer;
pub use self::caller::principal::Principal;
pub use self::connection::stdio::serve_stdio;
#[cfg(feature = "http-server")]
pub(crate) use self::connection::streams::ServerStreams;
pub use self::connection::{Connection, connect};
#[cfg(feature = "http-server")]
pub(crate) use self::ownership::Decision;
#[cfg(feature = "server")]
pub(crate) use self::ownership::{Ownership, jitter};
#[cfg(feature = "server")]
pub(crate) use self::questions::check_answer;
#[cfg(feature = "server")]
pub use self::questions::{Elicited, QuestionFuture, RequestState, Roots, StateError};
#[cfg(feature = "http-server")]
pub(crate) use self::registry::announcement::Announcement;
#[cfg(all(test, feature = "http-server"))]
pub(crate) use self::registry::announcement::List;
#[cfg(feature = "http-server")]
pub(crate) use self::rounds::DerivedKeys;
#[cfg(feature = "server")]
pub use self::rounds::StateKeys;
#[cfg(feature = "server")]
pub use self::serving::transport::{Transport, stdio};

#[cfg(feature = "server")]
pub use mcp_proto::server::ListKind;

#[cfg(feature = "server")]
pub use self::background::Background;
#[cfg(feature = "server")]
pub use self::call::detach::Detach;
#[cfg(feature = "server")]
pub use self::call::detached::{DetachedCall, OpenQuestion};
#[cfg(feature = "server")]
pub use self::call::handler_context::Context;
#[cfg(feature = "server")]
pub use self::call::handler_error::HandlerError;
#[cfg(feature = "server")]
pub use self::call::output::{Json, ToolOutput};
#[cfg(feature = "server")]
pub use self::call::service::BoxService;
#[cfg(feature = "server")]
pub use self::caller::rate::{RateLimit, RateLimits};
#[cfg(feature = "server")]
pub use self::extension::{Cached, Extension, ExtensionMethod, NotificationContext};
#[cfg(feature = "server")]
pub use self::items::completion::{CompletionOutput, CompletionRequest};
#[cfg(feature = "server")]
pub use self::items::item::Item;
#[cfg(feature = "server")]
pub use self::items::prompt::{Prompt, PromptOutput};
#[cfg(feature = "server")]
pub use self::items::register_error::RegisterError;
#[cfg(feature = "server")]
pub use self::items::resource::{Resource, ResourceOutput};
#[cfg(feature = "server")]
pub use self::items::template::{MatchedUri, Template};
#[cfg(feature = "server")]
pub use self::items::tool::{Tool, ToolCall};
#[cfg(feature = "server")]
pub use self::registry::Registry;
#[cfg(feature = "server")]
pub use self::registry::principal_peers::PrincipalPeers;
#[cfg(feature = "server")]
pub use self::serving::build_error::BuildError;
#[cfg(feature = "server")]
pub use self::serving::builder::ServerBuilder;

#[cfg(feature = "http-server")]
pub(crate) use self::caller::live::Live;
#[cfg(feature = "http-server")]
pub(crate) use self::caller::machine::Machine;
#[cfg(feature = "http-server")]
pub(crate) use self::caller::rate::Buckets;
#[cfg(feature = "http-server")]
pub(crate) use self::connection::side::Side;
#[cfg(feature = "http-server")]
pub(crate) use self::registry::declare::Caller;
