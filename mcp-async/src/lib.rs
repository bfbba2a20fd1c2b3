//! The runtime-neutral async half of an MCP client and server.
#![forbid(unsafe_code)]

pub mod process;
pub mod stdio;
