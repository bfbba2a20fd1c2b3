//! The tests that examples have of their own; `cargo test` only builds the examples themselves.

use mcp_smol as adapter;
use smol::block_on;

#[path = "../../mcp-async/examples/adapter/everything/mod.rs"]
#[expect(dead_code, reason = "as a program it is an example")]
mod everything;
