//! Connections on a virtual clock, without a runtime.

mod allocations;
mod client;
mod hooks;
mod layers;
mod messages;
mod server;
pub(crate) mod spans;
pub(crate) mod support;
mod threads;
