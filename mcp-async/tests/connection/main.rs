//! Connections on a virtual clock, without a runtime.

mod allocations;
mod client;
mod messages;
mod server;
mod support;
mod threads;
