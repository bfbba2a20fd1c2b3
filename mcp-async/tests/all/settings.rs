//! Settings that many tests change.

use mcp_async::Limits;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

/// Returns the default limits after this change.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Returns the configuration of a server with tools.
pub(crate) fn with_tools() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("tools", "1")
    }
}
