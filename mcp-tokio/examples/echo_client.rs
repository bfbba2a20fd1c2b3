//! A client that starts the server on its command line and calls its tool `echo`.
//!
//! Usage: echo_client MODE COMMAND [ARGUMENT...]    MODE: legacy, auto or a modern revision
//!
//! Prints one JSON line for every step that worked: initialised, listed, called, closed.

#[path = "../../mcp-async/examples/adapter/echo_client.rs"]
mod echo_client;

use core::error::Error;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    echo_client::talk().await
}
