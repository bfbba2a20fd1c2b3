//! The stores in Redis, which each test starts.

mod on_smol;
mod on_tokio;
mod redis_server;
