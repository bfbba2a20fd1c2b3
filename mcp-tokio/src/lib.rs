//! MCP client and server on tokio.
