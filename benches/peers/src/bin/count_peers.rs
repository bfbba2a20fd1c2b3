//! A [`Run`] of a peer.

use mcp_benches::Run;
use mcp_benches_peers::events::{EventsourceStream, SseStream};
use mcp_benches_peers::messages::{Rmcp, SerdeJson, SimdJson, SonicRs};
use mcp_benches_peers::{arguments, calls, encode};

fn main() {
    let run = Run::from_arguments();
    let known = run.messages::<SerdeJson>()
        || run.messages::<SimdJson>()
        || run.messages::<SonicRs>()
        || run.messages::<Rmcp>()
        || run.arguments::<arguments::SerdeJson>()
        || run.arguments::<arguments::SimdJson>()
        || run.arguments::<arguments::SerdeJsonCore>()
        || run.calls::<calls::SerdeJson>()
        || run.values::<encode::SerdeJson>()
        || run.events::<SseStream>()
        || run.events::<EventsourceStream>();
    assert!(known, "no such contestant or input");
}
