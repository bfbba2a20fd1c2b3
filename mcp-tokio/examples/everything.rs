//! A server with every feature, on standard input and output, or over HTTP with `--http 127.0.0.1:8000`.
//!
//! `--revisions 2025-11-25,2026-07-28` restricts what it speaks.

#[path = "../../mcp-async/examples/adapter/everything/mod.rs"]
mod everything;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    everything::run().await
}
