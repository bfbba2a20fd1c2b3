//! MCP client and server on smol.
