//! The untyped layer: one connection to a server, the calls and questions on it, and its handler.

pub(super) mod awaited;
pub(super) mod call;
pub(crate) mod child_session;
pub(crate) mod connection;
pub(super) mod exchange;
pub(super) mod handler;
pub(super) mod in_task;
pub(super) mod info;
pub(super) mod peer;
pub(super) mod restart;
pub(crate) mod role;
pub(super) mod round;
pub(super) mod stray;
pub(super) mod unsent;
