//! Drives the server on its command line through every feature, written on the typed client.
//!
//! Usage: drive [--revisions REVISION,...] [--expect REVISION] -- COMMAND [ARGUMENT...]
//!
//! Prints one JSON line per feature: `{"feature":..,"ok":true}`, or false with a `detail`.

#[path = "../../mcp-async/examples/adapter/drive/mod.rs"]
mod drive;

use core::error::Error;

use mcp_smol as adapter;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(drive::drive())
}
