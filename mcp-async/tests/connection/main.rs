//! Connections on a virtual clock, without a runtime.

mod allocations;
mod client;
mod hooks;
mod messages;
mod server;
mod support;
mod threads;
