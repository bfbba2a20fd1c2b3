//! Serves [`everything::server`] on standard input and output or over HTTP, on tokio or on smol.

use core::net::SocketAddr;
use std::io;

use clap::{Parser, ValueEnum};
use mcp_async::net::HttpListener;
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::stdio;
use mcp_tokio::Revision;

/// A server with every feature, on standard input and output or over HTTP
#[derive(Debug, Parser)]
struct Arguments {
    /// Speaks these revisions only, as 2025-11-25,2026-07-28
    #[arg(long, value_delimiter = ',', value_name = "REVISIONS")]
    revisions: Vec<Revision>,
    /// Serves this address, as 127.0.0.1:8000: Streamable HTTP at /mcp, and HTTP+SSE at /sse
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Runs on this runtime
    #[arg(long, value_enum, default_value_t = Runtime::Tokio)]
    runtime: Runtime,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Runtime {
    Tokio,
    Smol,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    match arguments.runtime {
        Runtime::Tokio => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(serve(mcp_tokio::Runtime.into(), &arguments)),
        Runtime::Smol => smol::block_on(serve(mcp_smol::Runtime.into(), &arguments)),
    }
}

async fn serve(runtime: RuntimeHandle, arguments: &Arguments) -> io::Result<()> {
    let server = everything::server(&arguments.revisions);
    match arguments.http {
        Some(address) => {
            let http = server.http().legacy_sse("/sse", "/messages");
            http.serve(HttpListener::bind(runtime, address)).await
        }
        None => server.serve(stdio(runtime)).await,
    }
}
