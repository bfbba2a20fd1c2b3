//! The client role.
//!
//! Most programs use [`Client`], with typed calls, callbacks and streams. It stands on an untyped layer,
//! which needs no feature: [`connect`] returns a [`Connection`], the future that does the work, and a
//! [`Peer`], which calls methods by name; a [`Handler`] receives requests and notifications of the
//! server.

#[cfg(feature = "client")]
mod ask;
mod awaited;
#[cfg(feature = "client")]
mod background;
#[cfg(feature = "client")]
mod boxed;
#[cfg(feature = "client")]
pub(crate) mod builder;
#[cfg(feature = "client")]
mod builder_extensions;
#[cfg(feature = "client")]
mod cache;
mod call;
#[cfg(feature = "client")]
mod callback_context;
#[cfg(feature = "client")]
mod callback_error;
#[cfg(feature = "client")]
mod callbacks;
#[cfg(feature = "client")]
mod child_end;
pub(crate) mod child_session;
#[cfg(feature = "client")]
pub(crate) mod client_state;
pub(crate) mod connection;
#[cfg(feature = "client")]
mod connector;
#[cfg(feature = "client")]
mod continuation;
#[cfg(feature = "client")]
mod declared;
#[cfg(feature = "client")]
mod decode;
#[cfg(feature = "client")]
mod elicitation;
mod exchange;
#[cfg(feature = "client")]
mod extension;
#[cfg(feature = "client")]
mod extension_calls;
#[cfg(feature = "client")]
mod extensions;
#[cfg(feature = "client")]
mod handle;
mod handler;
mod in_task;
mod info;
#[cfg(feature = "client")]
pub(crate) mod inner;
#[cfg(feature = "client")]
mod input_answers;
#[cfg(feature = "client")]
mod listed_tools;
#[cfg(feature = "client")]
mod listen_filter;
#[cfg(feature = "client")]
mod logs;
#[cfg(feature = "client")]
mod owed_requests;
#[cfg(feature = "client")]
mod page;
#[cfg(feature = "client")]
mod pages;
#[cfg(feature = "client")]
mod pagination;
mod peer;
#[cfg(feature = "client")]
mod question_tasks;
#[cfg(feature = "client")]
mod queue;
#[cfg(feature = "client")]
mod request;
#[cfg(feature = "client")]
mod restart;
mod round;
#[cfg(all(feature = "client", feature = "schema"))]
mod schemas;
#[cfg(all(feature = "client", not(feature = "schema")))]
#[path = "no_schemas.rs"]
mod schemas;
pub(crate) mod side;
mod stray;
#[cfg(feature = "client")]
mod subscription;
#[cfg(feature = "client")]
mod subscriptions;
#[cfg(feature = "client")]
pub(crate) mod supervisor;
#[cfg(feature = "client")]
mod task_support;
#[cfg(feature = "http-client")]
pub(crate) mod transport_data;
#[cfg(feature = "http-client")]
mod unsent;

use mcp_proto::client::{Client as Core, Growing};

#[cfg(feature = "client")]
pub use self::builder::ClientBuilder;
pub use self::call::Call;
#[cfg(feature = "client")]
pub use self::callback_context::CallbackContext;
#[cfg(feature = "client")]
pub use self::callback_error::CallbackError;
pub use self::connection::{Connection, connect};
#[cfg(all(feature = "client", feature = "server"))]
pub(crate) use self::connector::{ClosureConnector, Connecting};
#[cfg(feature = "client")]
pub use self::connector::{Connector, child, reopened};
#[cfg(feature = "client")]
pub use self::continuation::Continuation;
#[cfg(feature = "client")]
pub use self::extension::Extension;
#[cfg(feature = "client")]
pub use self::handle::Client;
pub use self::handler::{Handler, IncomingQuestion, Reply};
pub use self::in_task::connect_in_task;
pub use self::info::ServerInfo;
#[cfg(feature = "client")]
pub use self::listen_filter::ListenFilter;
#[cfg(feature = "client")]
pub use self::logs::Logs;
#[cfg(feature = "client")]
pub use self::page::{Listed, Page};
#[cfg(feature = "client")]
pub use self::pages::Pages;
pub use self::peer::Peer;
#[cfg(feature = "client")]
pub use self::request::Request;
#[cfg(feature = "client")]
pub use self::restart::RestartPolicy;
#[cfg(feature = "client")]
pub use self::subscription::Subscription;
#[cfg(feature = "client")]
pub use self::subscriptions::Update;
pub use crate::connection::Progress;
#[cfg(feature = "client")]
pub use crate::error::TaskError;
pub use crate::error::{CallError, ConnectError};
#[cfg(feature = "client")]
pub use mcp_proto::RevisionSet;
#[cfg(feature = "client")]
pub use mcp_proto::client::{Negotiation, Timeouts};

#[cfg(feature = "client")]
pub(crate) use self::boxed::Boxed;
#[cfg(feature = "client")]
pub(crate) use self::question_tasks::{QuestionHost, QuestionTasks};
#[cfg(feature = "client")]
pub(crate) use self::side::{guarded, is_created};
#[cfg(feature = "client")]
pub(crate) use self::subscription::may_pass;
#[cfg(feature = "http-client")]
pub(crate) use self::unsent::{UnsentMessage, UnsentMessages, no_message};

pub(crate) type Machine = Core<'static, Growing>;
