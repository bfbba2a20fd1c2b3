//! A command-line client for any server on standard input and output; `--help` says more.

#[path = "../../mcp-async/examples/adapter/client/mod.rs"]
mod client;

use std::process::ExitCode;

use mcp_smol as adapter;

fn main() -> ExitCode {
    smol::block_on(client::run())
}
