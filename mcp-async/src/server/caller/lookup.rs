//! The lookup of the tool or method that a call names.

use core::fmt;

use mcp_proto::json::Str;

use super::principal::Principal;
use crate::values::Values;

/// The tools and methods of a server.
pub(in crate::server) trait Lookup: fmt::Debug + Sync {
    /// Returns the data of the tool of this name, unless this caller does not see it.
    fn tool_data(&self, name: &str, caller: Option<&Principal>) -> Option<Values>;

    /// Returns whether calls of the method of this name are long-running.
    fn is_long_running(&self, method: Str<'_>) -> bool;
}
