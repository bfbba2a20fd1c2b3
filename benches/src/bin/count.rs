//! A [`Run`] of this library.

use mcp_benches::{Run, arguments, encode, events, messages};

fn main() {
    let run = Run::from_arguments();
    let known = run.messages::<messages::McpProto>()
        || run.arguments::<arguments::McpProto>()
        || run.values::<encode::McpProto>()
        || run.events::<events::McpProto>();
    assert!(known, "no such contestant or input");
}
