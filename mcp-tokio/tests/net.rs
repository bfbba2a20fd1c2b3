//! Sockets, HTTP and TLS on tokio.

use mcp_tokio as adapter;

#[path = "../../mcp-async/tests/adapter/net/mod.rs"]
mod net;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
#[should_panic(expected = "Tokio")]
fn a_task_outside_of_a_runtime_is_not_dropped_in_silence() {
    mcp_async::Runtime::spawn(&mcp_tokio::Runtime, Box::pin(async {}));
}
