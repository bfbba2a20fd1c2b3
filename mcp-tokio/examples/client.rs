//! A command-line client for any server on standard input and output; `--help` says more.

#[path = "../../mcp-async/examples/adapter/client/mod.rs"]
mod client;

use std::process::ExitCode;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    client::run().await
}
