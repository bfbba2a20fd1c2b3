//! A server in ten lines: one tool, every revision.
//!
//! Its peer starts it; to see it at work, start it with the example `client`.

#[path = "../../mcp-async/examples/adapter/weather.rs"]
mod weather;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    weather::run().await
}
