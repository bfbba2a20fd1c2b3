//! Connections on a virtual clock, without a runtime.

mod allocations;
mod client;
mod hooks;
mod layers;
mod messages;
mod server;
mod support;
mod threads;
