//! MCP client and server on smol.
#![forbid(unsafe_code)]

mod process;
mod reactor;
mod stdio;

pub use process::spawn;
pub use reactor::Runtime;
pub use stdio::stdio;

pub use mcp_async::process::{Child, Command, Died, Grace, Process};
pub use mcp_async::stdio::{Claim, Input, Output};
