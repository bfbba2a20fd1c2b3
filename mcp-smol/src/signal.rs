use core::future::pending;
use std::io;

use async_signal::{Signal, Signals};
use smol::stream::StreamExt as _;

/// Waits until the program is asked to end: by SIGINT or SIGTERM, by Ctrl-C.
///
/// Servers that run by themselves ([`Server::serve`](mcp_async::Server::serve),
/// [`Http::serve`](mcp_async::http::Http::serve)) wait for it already. It is for services
/// that a program mounts in another server.
///
/// From the first poll on, the signals do not end the process by themselves. Where signals cannot be
/// received, the future never completes.
pub async fn interrupted() {
    if wait().await.is_err() {
        pending::<()>().await;
    }
}

async fn wait() -> io::Result<()> {
    // Windows has Ctrl-C alone.
    let asked: &[Signal] = if cfg!(windows) {
        &[Signal::Int]
    } else {
        &[Signal::Int, Signal::Term]
    };
    match Signals::new(asked)?.next().await {
        Some(signal) => signal.map(|_| ()),
        None => pending().await,
    }
}
