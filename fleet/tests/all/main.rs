//! The stores in Redis, which each test starts.

mod cluster;
mod losses;
mod on_smol;
mod on_tokio;
#[path = "../../../mcp-async/tests/adapter/pairs.rs"]
mod pairs;
mod redis_server;
mod sentinel;
mod tasks;
