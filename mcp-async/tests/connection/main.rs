//! Connections on a virtual clock, without a runtime.

mod server;
mod support;
