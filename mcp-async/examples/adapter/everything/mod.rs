//! A server with every feature, for tests of clients and for looking things up.
//!
//! | file | shows |
//! |---|---|
//! | `basics` | tools: arguments from types, structured results, cancellation, failures |
//! | `content` | every kind of content |
//! | `telling` | progress and log messages |
//! | `questions` | elicitation, sampling, roots |
//! | `rounds` | several questions, one after the other and at once |
//! | `changes` | tools and prompts that come and go, resources that change |
//! | `resources` | text, bytes, templates, completion of their variables |
//! | `prompts` | arguments, their completion, images and resources in messages |

mod basics;
mod changes;
mod content;
mod media;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod telling;
#[cfg(test)]
mod tests;

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use clap::Parser;

use crate::adapter::Server;
use crate::adapter::mcp_async::model::{CacheScope, Icon};
use crate::adapter::mcp_proto::Revision;

/// A server with every feature, on standard input and output or over HTTP.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Speaks these revisions only, as 2025-11-25,2026-07-28
    #[arg(long, value_delimiter = ',', value_name = "REVISIONS")]
    revisions: Vec<Revision>,
    /// Serves this address, as 127.0.0.1:8000: Streamable HTTP at /mcp, and HTTP+SSE at /sse
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
}

/// What `main` does on either runtime.
pub(crate) async fn run() -> io::Result<()> {
    let arguments = Arguments::parse();
    let server = server(&arguments.revisions);
    match arguments.http {
        Some(address) => {
            let http = server.http().legacy_sse("/sse", "/messages");
            http.serve(address).await
        }
        None => server.serve_stdio().await,
    }
}

/// All of it, for these revisions; none stands for all.
pub(crate) fn server(revisions: &[Revision]) -> Server {
    let mut server = Server::new("everything", env!("CARGO_PKG_VERSION"))
        .title("Everything")
        .description("A server with every feature")
        .website("https://modelcontextprotocol.io")
        .icon(Icon::new(media::ICON))
        .instructions("Every tool says what it does. Nothing here has lasting effects.")
        .logging()
        .page_size(20)
        .cache(Duration::from_secs(300), CacheScope::Public);
    if !revisions.is_empty() {
        server = server.revisions(revisions.iter().copied().collect());
    }
    let server = basics::register(server);
    let server = content::register(server);
    let server = telling::register(server);
    let server = questions::register(server);
    let server = rounds::register(server);
    let server = changes::register(server);
    let server = resources::register(server);
    prompts::register(server)
}
