//! Hostile peers of both roles, through raw bytes in memory.
#![cfg(all(feature = "client", feature = "server"))]

mod bombs;
mod client;
mod floods;
mod shapes;
#[path = "../sim/mod.rs"]
mod sim;
mod support;
