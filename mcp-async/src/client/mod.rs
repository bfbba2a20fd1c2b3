//! The client role.
//!
//! Most programs use [`Client`], with typed calls, callbacks and streams. It stands on an untyped layer,
//! which needs no feature: [`connect`] returns a [`Connection`], the future that does the work, and a
//! [`Peer`], which calls methods by name; a [`Handler`] receives requests and notifications of the
//! server.
//!
//! ```text
//! connecting   the builder, the ways to a server, and the connection that is opened again
//! extension    extensions of the protocol
//! handle       the client of an application
//! request      typed requests, pages and subscriptions
//! state        what outlives connections: caches, streams, what is subscribed
//! callbacks    what the application answers the server
//! session      the untyped layer: one connection, its calls and its questions
//! ```
//!
//! Each imports from those below it only.

#[cfg(feature = "client")]
mod boxed;
#[cfg(feature = "client")]
mod callbacks;
#[cfg(feature = "client")]
pub(crate) mod connecting;
#[cfg(feature = "client")]
mod extension;
#[cfg(feature = "client")]
mod handle;
#[cfg(feature = "client")]
mod request;
pub(crate) mod session;
#[cfg(feature = "client")]
pub(crate) mod state;

use mcp_proto::client::{Client as Core, Growing};

#[cfg(feature = "client")]
pub use self::callbacks::callback_context::CallbackContext;
#[cfg(feature = "client")]
pub use self::callbacks::callback_error::CallbackError;
#[cfg(feature = "client")]
pub use self::connecting::builder::ClientBuilder;
#[cfg(all(feature = "client", feature = "server"))]
pub(crate) use self::connecting::connector::{ClosureConnector, Connecting};
#[cfg(feature = "client")]
pub use self::connecting::connector::{Connector, child, reopened};
#[cfg(feature = "client")]
pub use self::extension::Extension;
#[cfg(feature = "client")]
pub use self::extension::continuation::Continuation;
#[cfg(feature = "client")]
pub use self::handle::Client;
#[cfg(feature = "client")]
pub use self::request::Request;
#[cfg(feature = "client")]
pub use self::request::batch::Batch;
#[cfg(feature = "client")]
pub use self::request::logs::Logs;
#[cfg(feature = "client")]
pub use self::request::page::{Listed, Page};
#[cfg(feature = "client")]
pub use self::request::pages::Pages;
#[cfg(feature = "client")]
pub use self::request::subscription::Subscription;
pub use self::session::call::Call;
pub use self::session::connection::{Connection, connect};
pub use self::session::handler::{Handler, IncomingQuestion, Reply};
pub use self::session::in_task::connect_in_task;
pub use self::session::info::ServerInfo;
pub use self::session::peer::Peer;
#[cfg(feature = "client")]
pub use self::session::restart::RestartPolicy;
#[cfg(feature = "client")]
pub use self::state::listen_filter::ListenFilter;
#[cfg(feature = "client")]
pub use self::state::subscriptions::Update;
pub use crate::connection::Progress;
#[cfg(feature = "client")]
pub use crate::error::TaskError;
pub use crate::error::{CallError, ConnectError};
#[cfg(feature = "client")]
pub use mcp_proto::RevisionSet;
pub use mcp_proto::client::Failure;
#[cfg(feature = "client")]
pub use mcp_proto::client::{Negotiation, Timeouts};

#[cfg(feature = "client")]
pub(crate) use self::boxed::Boxed;
#[cfg(feature = "client")]
pub(crate) use self::callbacks::question_tasks::{QuestionHost, QuestionTasks};
#[cfg(feature = "client")]
pub(crate) use self::request::subscription::may_pass;
#[cfg(feature = "client")]
pub(crate) use self::session::side::{guarded, is_created};
#[cfg(feature = "http-client")]
pub(crate) use self::session::unsent::{UnsentMessage, UnsentMessages, no_message};

pub(crate) type Machine = Core<'static, Growing>;
