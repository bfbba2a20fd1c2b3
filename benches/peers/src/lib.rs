//! The peers of every bench, measured on the inputs of `mcp-benches`.

pub mod arguments;
pub mod calls;
pub mod encode;
pub mod events;
pub mod messages;
