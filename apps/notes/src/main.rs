//! The notes server over standard input and output: `notes DATABASE`.

use anyhow::Context as _;
use mcp_tokio::stdio;
use notes::Store;
use tracing_subscriber::filter::LevelFilter;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Errors that clients do not read are written to standard error.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(LevelFilter::WARN)
        .init();
    let database = std::env::args().nth(1).context("usage: notes DATABASE")?;
    let server = notes::server(Store::open(&database)?);
    Ok(server.serve(stdio()).await?)
}
