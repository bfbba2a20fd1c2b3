//! The runtime-neutral async half of an MCP client and server.
