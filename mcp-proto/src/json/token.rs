//! Names under which borrowed values ask a deserializer for their bytes.

/// The name under which [`Raw`](super::Raw) asks for its bytes.
pub(super) const RAW_TOKEN: &str = "mcp_proto::json::Raw";
/// The name under which [`Str`](super::Str) asks for its bytes.
pub(super) const STR_TOKEN: &str = "mcp_proto::json::Str";
/// The name under which [`Exact`](super::Exact) hands out its bytes.
pub(super) const EXACT_TOKEN: &str = "mcp_proto::json::Exact";
