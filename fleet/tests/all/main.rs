//! The stores in Redis, which each test starts.

mod on_smol;
mod on_tokio;
#[path = "../../../mcp-async/tests/adapter/pairs.rs"]
mod pairs;
mod redis_server;
