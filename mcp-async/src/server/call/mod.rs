//! One call, from its message to its reply: what a service and a handler see of it.
//!
//! It imports `caller` and `rounds`; every module that serves calls imports it.

pub(super) mod answering;
pub(super) mod call_host;
pub(super) mod connected;
pub(super) mod context;
pub(super) mod detached;
pub(super) mod detached_host;
pub(super) mod encoded;
pub(super) mod forwarded;
pub(super) mod handler_context;
pub(super) mod handler_error;
pub(super) mod listen;
pub(super) mod mirrored;
pub(super) mod notify;
pub(super) mod open_listen;
pub(super) mod output;
pub(super) mod reply;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(super) mod require_scopes;
pub(super) mod service;
mod session_state;
pub(super) mod subscriber;
pub(super) mod tell;
