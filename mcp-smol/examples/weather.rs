//! A server in ten lines: one tool, every revision.
//!
//! Its peer starts it; to see it at work, start it with the example `client`.

#[path = "../../mcp-async/examples/adapter/weather.rs"]
mod weather;

use mcp_smol as adapter;

fn main() -> std::io::Result<()> {
    smol::block_on(weather::run())
}
