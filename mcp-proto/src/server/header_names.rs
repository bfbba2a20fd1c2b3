//! The headers that repeat parts of a body, as an error names them.

pub(super) const VERSION: &str = "MCP-Protocol-Version";
pub(super) const METHOD: &str = "Mcp-Method";
pub(super) const NAME: &str = "Mcp-Name";
