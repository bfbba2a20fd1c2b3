//! The client role.
//!
//! Most programs use [`Client`], with typed calls, callbacks and streams. It stands on an untyped layer:
//! [`connect`] returns a [`Connection`], the future that does the work, and a
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

mod callbacks;
pub(crate) mod connecting;
mod extension;
mod handle;
mod request;
pub(crate) mod session;
pub(crate) mod state;

use mcp_proto::client::{Client as Core, Growing};

pub use self::callbacks::callback_context::CallbackContext;
pub use self::callbacks::callback_error::CallbackError;
pub use self::connecting::builder::ClientBuilder;
#[cfg(all(feature = "client", feature = "server"))]
pub(crate) use self::connecting::connector::ClosureConnector;
pub use self::connecting::connector::{Connector, child, reopened};
pub use self::extension::Extension;
pub use self::extension::continuation::Continuation;
pub use self::handle::Client;
pub use self::request::Request;
pub use self::request::batch::Batch;
pub use self::request::logs::Logs;
pub use self::request::one_round::{OneRound, RoundResult};
pub use self::request::page::{Listed, Page};
pub use self::request::pages::Pages;
pub use self::request::subscription::Subscription;
pub use self::session::call::Call;
pub use self::session::connection::{Connection, connect};
pub use self::session::handler::{Answer, Handler, IncomingQuestion};
pub use self::session::in_task::connect_in_task;
pub use self::session::info::ServerInfo;
pub use self::session::peer::Peer;
pub use self::session::restart::RestartPolicy;
pub use self::state::connection_state::ConnectionState;
pub use self::state::inputs::{InputAnswers, InputQuestions};
pub use self::state::listen_filter::ListenFilter;
pub use self::state::subscriptions::Update;
pub use crate::connection::Progress;
pub use crate::error::TaskError;
pub use crate::error::{CallError, ConnectError};
pub use mcp_proto::client::Failure;
pub use mcp_proto::client::{Negotiation, Timeouts};

pub(crate) use self::callbacks::question_tasks::{QuestionHost, QuestionTasks};
pub(crate) use self::request::subscription::may_pass;
pub(crate) use self::session::role::is_created;
pub(crate) use self::session::unsent::{UnsentMessage, UnsentMessages, no_message, requests_of};

pub(crate) type Machine = Core<'static, Growing>;
