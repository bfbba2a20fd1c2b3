//! The servers under test: the public API, and every default, apart from a limit of the rate that no bench reaches.

use core::time::Duration;
use std::io;
use std::net::TcpListener;

use mcp_async::Server;
use mcp_async::net::HttpListener;
use mcp_async::schemars::{self, JsonSchema};
use mcp_async::server::{Context, RateLimit, ServerBuilder};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Said {
    text: String,
}

pub(crate) fn on_tokio(socket: TcpListener) -> io::Result<()> {
    tokio_runtime()?.block_on(serve(HttpListener::from_std(mcp_tokio::Runtime, socket)))
}

pub(crate) fn on_smol(socket: TcpListener) -> io::Result<()> {
    smol::block_on(serve(HttpListener::from_std(mcp_smol::Runtime, socket)))
}

/// Serves on standard input and output.
pub(crate) fn on_a_pipe() -> io::Result<()> {
    tokio_runtime()?.block_on(echo().serve(mcp_tokio::stdio()))
}

pub(crate) fn tokio_runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

async fn serve(listen: HttpListener) -> io::Result<()> {
    let limit = RateLimit::new(u32::MAX, Duration::from_secs(1));
    let http = echo().http().rate_limit(Some(limit));
    http.serve(listen).await
}

fn echo() -> ServerBuilder {
    Server::builder("echo", "1.0").tool(
        "echo",
        "Says it again",
        |said: Said, _: Context| async move { Ok(said.text) },
    )
}
