//! The peers of every bench, measured on the inputs of `mcp-benches`.

pub mod events;
pub mod messages;
