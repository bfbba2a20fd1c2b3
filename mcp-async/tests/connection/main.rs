//! Connections on a virtual clock, without a runtime.

mod client;
mod server;
mod support;
