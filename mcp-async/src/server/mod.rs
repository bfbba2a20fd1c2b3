//! The server role.
//!
//! Most programs use [`Server`](crate::Server), with typed handlers. It stands on an untyped layer,
//! which needs no feature: [`connect`] returns a [`Connection`], the future that does the work, and a
//! [`Peer`], which sends to the client; a [`Service`] answers the calls.

mod about;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod access;
#[cfg(feature = "http-server")]
mod announcement;
mod answering;
mod ask;
mod call_host;
mod connected;
mod connection;
mod context;
mod listen;
mod listener;
mod log;
#[cfg(feature = "server")]
mod lookup;
mod machine;
mod notify;
mod open_listen;
#[cfg(feature = "server")]
mod ownership;
mod peer;
mod principal;
mod reply;
#[cfg(feature = "server")]
mod rounds;
mod run_until;
mod service;
mod side;
#[cfg(feature = "http-server")]
mod streams;
mod tell;

pub mod layers;

#[cfg(feature = "server")]
pub(crate) mod background;
#[cfg(feature = "server")]
mod build;
#[cfg(feature = "server")]
mod build_error;
#[cfg(feature = "server")]
pub(crate) mod builder;
#[cfg(feature = "server")]
mod catalog;
#[cfg(feature = "server")]
mod checks;
#[cfg(feature = "server")]
mod completion;
#[cfg(feature = "server")]
mod declare;
#[cfg(feature = "server")]
mod detach;
#[cfg(feature = "server")]
mod detached;
#[cfg(feature = "server")]
mod detached_host;
#[cfg(feature = "server")]
mod encoded;
#[cfg(feature = "server")]
mod extension;
#[cfg(feature = "server")]
mod extension_revisions;
#[cfg(feature = "server")]
mod find_tools;
#[cfg(feature = "server")]
mod handler_context;
#[cfg(feature = "server")]
mod handler_error;
#[cfg(feature = "server")]
mod inner;
#[cfg(feature = "server")]
mod item;
#[cfg(feature = "server")]
mod item_scopes;
#[cfg(feature = "server")]
mod item_settings;
#[cfg(feature = "server")]
mod keyed;
#[cfg(feature = "server")]
mod lister;
#[cfg(feature = "server")]
mod live;
#[cfg(feature = "server")]
mod method;
#[cfg(feature = "http-server")]
mod mirrored;
#[cfg(feature = "server")]
mod output;
#[cfg(feature = "server")]
pub(crate) mod parts;
#[cfg(feature = "server")]
mod principal_peers;
#[cfg(feature = "server")]
mod prompt;
#[cfg(feature = "server")]
mod rate;
#[cfg(feature = "server")]
mod register_error;
#[cfg(feature = "server")]
mod registry;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod require_scopes;
#[cfg(feature = "server")]
mod resource;
#[cfg(feature = "server")]
mod router;
#[cfg(feature = "server")]
mod runner;
#[cfg(feature = "server")]
pub(crate) mod serving;
#[cfg(feature = "server")]
pub(crate) mod serving_scope;
#[cfg(feature = "server")]
mod settings;
#[cfg(feature = "server")]
mod state;
mod stdio;
#[cfg(feature = "server")]
mod task_listing;
#[cfg(feature = "server")]
mod template;
#[cfg(feature = "server")]
mod texts;
#[cfg(feature = "server")]
mod texts_probe;
#[cfg(feature = "server")]
mod tool;
#[cfg(feature = "server")]
mod transport;
#[cfg(feature = "server")]
mod view;
#[cfg(feature = "server")]
mod visibility;

#[cfg(feature = "http-server")]
pub(crate) use self::about::SessionClient;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) use self::access::Access;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use self::access::MissingScopes;
#[cfg(feature = "http-server")]
pub(crate) use self::announcement::Announcement;
#[cfg(all(test, feature = "http-server"))]
pub(crate) use self::announcement::List;
pub use self::ask::{Ask, AskError};
pub use self::connection::{Connection, connect};
pub use self::context::CallContext;
pub use self::listen::Listen;
pub use self::listener::Listener;
#[cfg(feature = "http-server")]
pub(crate) use self::ownership::Decision;
#[cfg(feature = "server")]
pub(crate) use self::ownership::{Ownership, jitter};
pub use self::peer::Peer;
#[cfg(feature = "server")]
pub(crate) use self::peer::WeakPeer;
pub use self::principal::Principal;
pub use self::reply::{Input, Reply, Settled};
#[cfg(feature = "http-server")]
pub(crate) use self::rounds::DerivedKeys;
#[cfg(feature = "server")]
pub(crate) use self::rounds::check_answer;
#[cfg(feature = "server")]
pub use self::rounds::{Elicited, QuestionFuture, RequestState, Roots, StateError, StateKeys};
pub use self::service::{Call, Service, ServiceFn, service_fn};
pub use self::stdio::serve_stdio;
#[cfg(feature = "http-server")]
pub(crate) use self::streams::ServerStreams;
pub use self::tell::{LogMessage, ProgressUpdate};
#[cfg(feature = "server")]
pub use self::transport::{Transport, stdio};

#[cfg(feature = "server")]
pub use mcp_proto::server::ListKind;

#[cfg(feature = "server")]
pub use self::{
    background::Background,
    build_error::BuildError,
    builder::ServerBuilder,
    completion::{CompletionOutput, CompletionRequest},
    detach::Detach,
    detached::{DetachedCall, OpenQuestion},
    extension::{Cached, Extension, ExtensionMethod, NotificationContext},
    handler_context::Context,
    handler_error::HandlerError,
    item::Item,
    output::{Json, ToolOutput},
    principal_peers::PrincipalPeers,
    prompt::{Prompt, PromptOutput},
    rate::{RateLimit, RateLimits},
    register_error::RegisterError,
    registry::Registry,
    resource::{Resource, ResourceOutput},
    service::BoxService,
    template::{MatchedUri, Template},
    tool::{NoArguments, Tool, ToolCall},
};

#[cfg(feature = "http-server")]
pub(crate) use self::{declare::Caller, live::Live, machine::Machine, rate::Buckets, side::Side};
