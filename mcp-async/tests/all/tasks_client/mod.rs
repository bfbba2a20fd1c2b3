//! Extensions and tasks of a client, against a server by script or of `mcp-async`.

mod core_calls;
mod core_handles;
mod core_questions;
mod endings;
mod extensions;
mod following;
mod handles;
mod joined;
mod listening;
pub(crate) mod support;
