//! Skills: what a server offers of them, and what a client accepts.

#![cfg(all(feature = "skills", feature = "server", feature = "client"))]

mod client;
mod folder;
mod hostile;
mod server;
mod support;
