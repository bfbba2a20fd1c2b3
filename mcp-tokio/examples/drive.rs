//! Drives the server on its command line through every feature, written on the typed client.
//!
//! Usage: drive [--revisions REVISION,...] [--expect REVISION] -- COMMAND [ARGUMENT...]
//!
//! Prints one JSON line per feature: `{"feature":..,"ok":true}`, or false with a `detail`.

#[path = "../../mcp-async/examples/adapter/drive/mod.rs"]
mod drive;

use core::error::Error;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    drive::drive().await
}
