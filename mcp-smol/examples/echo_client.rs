//! A client that starts the server on its command line and calls its tool `echo`.
//!
//! Usage: echo_client MODE COMMAND [ARGUMENT...]    MODE: legacy, auto or a modern revision
//!
//! Prints one JSON line for every step that worked: initialised, listed, called, closed.

#[path = "../../mcp-async/examples/adapter/echo_client.rs"]
mod echo_client;

use core::error::Error;

use mcp_smol as adapter;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(echo_client::talk())
}
