//! The servers under test: the public API, and every default, apart from a limit of the rate that no bench reaches.

use core::future::pending;
use core::time::Duration;
use std::io;
use std::net::TcpListener;

use mcp_async::Server;
use mcp_async::http::Http;
use mcp_async::net::HttpListener;
use mcp_async::schemars::{self, JsonSchema};
use mcp_async::server::{Context, RateLimit, Resource, ServerBuilder, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use serde::Deserialize;

#[cfg(feature = "auth")]
use crate::tokens::Signed;

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

/// Serves calls that may become tasks.
pub(crate) fn tasks_on_tokio(socket: TcpListener) -> io::Result<()> {
    let listen = HttpListener::from_std(mcp_tokio::Runtime, socket);
    let task = |name| Tool::new(name).task(TaskPolicy::Required);
    let job = task("job").handler(|said: Said, _: Context| async move { Ok(said.text) });
    let wait = task("wait").handler(|said: Said, _: Context| async move {
        let () = pending().await;
        Ok(said.text)
    });
    let tasks = Tasks::new().max_running(MANY).max_per_owner(MANY);
    let server = echo().with(job).with(wait).tasks(tasks);
    tokio_runtime()?.block_on(unlimited(server).serve(listen))
}

/// Serves a call beside many tools.
pub(crate) fn tools_on_tokio(socket: TcpListener) -> io::Result<()> {
    let listen = HttpListener::from_std(mcp_tokio::Runtime, socket);
    let other = |at| {
        let tool = Tool::new(format!("tool-{at}")).description("Says it again");
        tool.handler(|said: Said, _: Context| async move { Ok(said.text) })
    };
    let server = (0..MANY).fold(echo(), |server, at| server.with(other(at)));
    tokio_runtime()?.block_on(unlimited(server).serve(listen))
}

/// Serves a resource that a call changes.
pub(crate) fn updates_on_tokio(socket: TcpListener) -> io::Result<()> {
    let listen = HttpListener::from_std(mcp_tokio::Runtime, socket);
    let changed = Resource::new("bench://changed", "changed");
    let changed = changed.handler(|_: Context| async { Ok("as it is") });
    let touch = |(): (), cx: Context| async move {
        cx.registry().resource_updated("bench://changed");
        Ok(String::new())
    };
    let server = echo().tool("touch", "Changes the resource", touch);
    let server = server.with(changed).change_notifications();
    tokio_runtime()?.block_on(unlimited(server).serve(listen))
}

/// More tools and tasks than a program has.
const MANY: usize = 10_000;

/// Serves requests with a token.
#[cfg(feature = "auth")]
pub(crate) fn protected_on_tokio(socket: TcpListener, signed: Signed) -> io::Result<()> {
    let listen = HttpListener::from_std(mcp_tokio::Runtime, socket);
    let http = unlimited(echo()).protect(signed.protection());
    tokio_runtime()?.block_on(http.serve(listen))
}

pub(crate) fn on_a_pipe_of_tokio() -> io::Result<()> {
    tokio_runtime()?.block_on(echo().serve(mcp_tokio::stdio()))
}

pub(crate) fn on_a_pipe_of_smol() -> io::Result<()> {
    smol::block_on(echo().serve(mcp_smol::stdio()))
}

pub(crate) fn tokio_runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

async fn serve(listen: HttpListener) -> io::Result<()> {
    unlimited(echo()).serve(listen).await
}

fn unlimited(server: ServerBuilder) -> Http {
    let limit = RateLimit::new(u32::MAX, Duration::from_secs(1));
    server.http().rate_limit(Some(limit))
}

fn echo() -> ServerBuilder {
    Server::builder("echo", "1.0").tool(
        "echo",
        "Says it again",
        |said: Said, _: Context| async move { Ok(said.text) },
    )
}
