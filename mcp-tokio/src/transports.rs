//! Transports and connectors on this runtime.

#[cfg(feature = "client")]
use core::future::Future;
#[cfg(feature = "client")]
use std::io;

#[cfg(any(feature = "server", feature = "client"))]
use futures_io::{AsyncRead, AsyncWrite};
#[cfg(any(feature = "server", feature = "client"))]
use mcp_async::Streams;
#[cfg(feature = "client")]
use mcp_async::client::{self, Connector};
#[cfg(feature = "http-client")]
use mcp_async::http::HttpConnector;
#[cfg(feature = "http-server")]
use mcp_async::net::HttpListener;
#[cfg(feature = "client")]
use mcp_async::process::Command;
#[cfg(feature = "server")]
use mcp_async::server::{self, Transport};

#[cfg(any(feature = "server", feature = "client"))]
use crate::Runtime;

/// Standard input and output of this process, for [`Server::serve`](mcp_async::Server::serve).
///
/// ```no_run
/// use mcp_tokio::{Server, stdio};
///
/// # async fn example() -> std::io::Result<()> {
/// Server::builder("weather", "1.0").serve(stdio()).await
/// # }
/// ```
#[cfg(feature = "server")]
pub fn stdio() -> impl Transport {
    server::stdio(Runtime.into())
}

/// A socket to serve over HTTP, for [`Http::serve`](mcp_async::http::Http::serve): `"127.0.0.1:8000"`. An address that
/// cannot be bound is the error of what serves it.
///
/// ```no_run
/// use mcp_tokio::{Server, tcp};
///
/// # async fn example() -> std::io::Result<()> {
/// Server::builder("weather", "1.0").http().serve(tcp("127.0.0.1:8000")).await
/// # }
/// ```
#[cfg(feature = "http-server")]
pub fn tcp(address: impl std::net::ToSocketAddrs) -> HttpListener {
    HttpListener::bind(Runtime, address)
}

/// A pair of byte streams, for servers and clients: that of [`split`](crate::split) or [`pair`](crate::pair).
///
/// ```no_run
/// use mcp_tokio::{Client, split, streams};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = tokio::net::TcpStream::connect("127.0.0.1:7000").await?;
/// let client = Client::connect(streams(split(stream))).await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
#[cfg(any(feature = "server", feature = "client"))]
pub fn streams<I, O>(streams: (I, O)) -> Streams<I, O>
where
    I: AsyncRead + Send + Unpin,
    O: AsyncWrite + Send + Unpin,
{
    Streams::new(Runtime, streams)
}

/// A server that is started as a child process, for [`Client::connect`](mcp_async::Client::connect).
///
/// ```no_run
/// use mcp_tokio::{Client, Command, child};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Command::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
/// let client = Client::connect(child(server)).await?;
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "client")]
pub fn child(command: Command) -> impl Connector {
    client::child(Runtime.into(), command)
}

/// A server behind streams that the function opens, again after each end if the client
/// [restarts](mcp_async::client::ClientBuilder::restart).
///
/// ```no_run
/// use mcp_tokio::{Client, reopened, split};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = reopened(|| async {
///     Ok(split(tokio::net::TcpStream::connect("127.0.0.1:7000").await?))
/// });
/// let client = Client::connect(server).await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "client")]
pub fn reopened<F, Fut, I, O>(open: F) -> impl Connector
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<(I, O)>> + Send + 'static,
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    client::reopened(Runtime.into(), open)
}

/// A server at a URL, for [`Client::connect`](mcp_async::Client::connect).
///
/// ```no_run
/// use mcp_tokio::{Client, http};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect(http("https://mcp.example.com/mcp")).await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "http-client")]
pub fn http(url: impl Into<String>) -> HttpConnector {
    HttpConnector::new(Runtime, url)
}

/// A server in this process, for tests of it or of a client.
///
/// ```
/// use mcp_tokio::{Client, Server, in_memory};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder("demo", "1.0")
///     .tool("hello", "Greets", |(): (), _| async { Ok("Hello!") })
///     .build()?;
/// let client = Client::connect(in_memory(&server)).await?;
/// assert_eq!(client.call_tool("hello", &()).await?.text(), "Hello!");
/// # Ok(())
/// # }
/// ```
#[cfg(all(feature = "server", feature = "client"))]
pub fn in_memory<S>(server: &mcp_async::Server<S>) -> impl Connector + use<S> {
    mcp_async::in_memory(Runtime.into(), server)
}
