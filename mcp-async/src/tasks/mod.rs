//! Tasks: calls of tools that continue after their exchange.
//!
//! A server offers them by [`ServerBuilder::tasks`](crate::server::ServerBuilder::tasks), for the
//! tools that say so by [`Tool::task`](crate::server::Tool::task). A client of 2026-07-28 that
//! declares the extension `io.modelcontextprotocol/tasks` on a call receives the task at once, looks
//! at it, answers its questions and takes its result. For every other client the same tool runs in
//! its call.
//!
//! A client uses tasks of such servers and of those of 2025-11-25 by [`client`].
//!
//! The module stands above `server` and `client`.

#[cfg(feature = "client")]
pub mod client;
mod legacy;
mod related;
#[cfg(feature = "server")]
pub mod server;
pub mod store;
mod time;

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
