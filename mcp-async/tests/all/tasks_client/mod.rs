//! Extensions and tasks of a client, against a server by script or of `mcp-async`.

mod endings;
mod extensions;
mod following;
mod handles;
mod joined;
mod listening;
mod support;
