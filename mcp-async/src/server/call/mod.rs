//! One call, from its message to its reply: what a service and a handler see of it.
//!
//! It imports `caller` and `rounds`; every module that serves calls imports it.

pub(super) mod answering;
pub(super) mod call_host;
pub(super) mod connected;
pub(super) mod context;
#[cfg(feature = "server")]
pub(super) mod detach;
#[cfg(feature = "server")]
pub(super) mod detached;
#[cfg(feature = "server")]
pub(super) mod detached_host;
#[cfg(feature = "server")]
pub(super) mod encoded;
#[cfg(feature = "server")]
pub(super) mod handler_context;
#[cfg(feature = "server")]
pub(super) mod handler_error;
pub(super) mod listen;
pub(super) mod listener;
#[cfg(feature = "http-server")]
pub(super) mod mirrored;
pub(super) mod notify;
pub(super) mod open_listen;
#[cfg(feature = "server")]
pub(super) mod output;
pub(super) mod reply;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(super) mod require_scopes;
#[cfg(feature = "server")]
pub(super) mod runner;
pub(super) mod service;
#[cfg(feature = "server")]
mod session_state;
pub(super) mod tell;
