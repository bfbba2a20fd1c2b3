//! Hostile peers of both roles, through raw bytes in memory.
#![cfg(all(feature = "client", feature = "server"))]

mod bombs;
mod client;
mod floods;
mod shapes;
