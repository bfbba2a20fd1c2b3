//! A conversation in two revisions, and every message of it as it crosses the wire.
//!
//! The program starts itself as a server, a child process on pipes, and talks to it twice: with
//! the handshake of 2025-11-25, and in 2026-07-28, where each request says all about itself.

#[path = "../../mcp-async/examples/adapter/tour.rs"]
mod tour;

use core::error::Error;

use mcp_smol as adapter;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(tour::run())
}
