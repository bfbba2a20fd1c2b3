//! The example `client` on smol.

use mcp_smol as adapter;

#[path = "../../mcp-async/tests/adapter/command_line/mod.rs"]
mod command_line;

const CLIENT: &str = "smol_client";
const EVERYTHING: &str = "smol_everything";
