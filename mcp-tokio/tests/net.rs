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

#[cfg(all(feature = "server", feature = "client"))]
#[test]
fn connecting_and_serving_outside_of_a_runtime_are_errors() {
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use mcp_tokio::{Client, Server, in_memory, pair, streams, tcp};

    let server = Server::builder("s", "1").build().unwrap();
    let cx = &mut Context::from_waker(Waker::noop());
    let client = pin!(Client::connect(in_memory(&server))).poll(cx);
    assert!(matches!(client, Poll::Ready(Err(_))), "{client:?}");
    let ends = || streams(pair(tokio::io::empty(), tokio::io::sink()));
    let client = pin!(Client::connect(ends())).poll(cx);
    assert!(matches!(client, Poll::Ready(Err(_))), "{client:?}");
    let served = pin!(server.serve(ends())).poll(cx);
    assert!(matches!(served, Poll::Ready(Err(_))), "{served:?}");
    let served = pin!(server.http().serve(tcp("127.0.0.1:0"))).poll(cx);
    assert!(matches!(served, Poll::Ready(Err(_))), "{served:?}");
}

#[test]
#[should_panic(expected = "Tokio")]
fn a_task_outside_of_a_runtime_is_not_dropped_in_silence() {
    mcp_async::runtime::Runtime::spawn(&mcp_tokio::Runtime, Box::pin(async {}));
}
