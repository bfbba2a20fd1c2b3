//! The tests of the crate, in one program.

mod client;
mod folder;
mod hostile;
mod server;
mod support;
mod wire;
