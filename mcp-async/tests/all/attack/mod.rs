//! Hostile peers of both roles, through raw bytes in memory.

mod bombs;
mod client;
mod floods;
mod shapes;

use mcp_proto::Revision;

use crate::scripted::{ANSWERS, LineClient};
use crate::server_typed::support::Offer;

/// A client of 2026-07-28 that can be asked for anything, and wants logs and progress with each request.
fn client_of(server: &impl Offer) -> LineClient {
    let client = LineClient::declaring(server, Revision::V2026_07_28, ANSWERS);
    client.stating(r#""io.modelcontextprotocol/logLevel":"debug","progressToken":"p""#)
}
