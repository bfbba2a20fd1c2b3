//! The tests that examples have of their own; `cargo test` only builds the examples themselves.

use mcp_tokio as adapter;

#[path = "../../mcp-async/examples/adapter/client/mod.rs"]
#[expect(dead_code, reason = "as a program it is an example")]
mod client;

#[path = "../../mcp-async/examples/adapter/everything/mod.rs"]
#[expect(dead_code, reason = "as a program it is an example")]
mod everything;

fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test)
}
