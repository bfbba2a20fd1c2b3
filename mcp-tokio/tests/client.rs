//! The example `client` on tokio.

use mcp_tokio as adapter;

#[path = "../../mcp-async/tests/adapter/command_line/mod.rs"]
mod command_line;

const CLIENT: &str = "client";
const EVERYTHING: &str = "everything";
