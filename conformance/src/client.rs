//! The client of `fixture client`: a script of five calls, told as JSON lines.

use core::error::Error;
use core::future::Future;
use core::time::Duration;
use std::io;

use futures_lite::future::zip;
use mcp_async::client::{ClientBuilder, Connector, child};
use mcp_async::http::HttpConnector;
use mcp_async::model::Content;
use mcp_async::process::Command;
use mcp_async::runtime::{RuntimeHandle, within};
use mcp_async::{Client, ErrorChain};
use mcp_proto::client::Timeouts;
use mcp_proto::{Revision, RevisionSet};
use serde::Serialize;

use crate::line::Line;

/// Starts the command and goes through the script.
///
/// # Errors
///
/// See [`script`].
pub(crate) async fn stdio(runtime: RuntimeHandle, program: &str, args: &[&str]) -> io::Result<()> {
    let command = Command::new(program).args(args);
    script(&runtime, builder()?, child(runtime.clone(), command)).await
}

/// Connects to the URL and goes through the script.
///
/// # Errors
///
/// See [`script`].
pub(crate) async fn http(runtime: RuntimeHandle, url: &str) -> io::Result<()> {
    script(&runtime, builder()?, HttpConnector::new(&runtime, url)).await
}

/// The settings of a client.
///
/// # Errors
///
/// The environment is not understood.
pub(crate) fn builder() -> io::Result<ClientBuilder> {
    // A server that is silent about what it does not know leaves half the time for the handshake.
    let timeouts = Timeouts {
        probe: limit()? / 2,
        ..Timeouts::default()
    };
    Ok(Client::builder("fixture", env!("CARGO_PKG_VERSION"))
        .revisions(revisions()?)
        .timeouts(timeouts))
}

/// Every step is tried, whatever happened to the one before.
///
/// # Errors
///
/// Reports the steps after a connection that failed, too.
pub(crate) async fn script(
    runtime: &RuntimeHandle,
    builder: ClientBuilder,
    server: impl Connector,
) -> io::Result<()> {
    let limit = limit()?;
    let client = step(runtime, limit, builder.connect(server)).await;
    Line::of("connect", client.as_ref(), |_, line| line).print()?;
    let client = client.as_ref().map_err(|_| NOT_CONNECTED.to_owned());

    let page = match client.clone() {
        Ok(client) => step(runtime, limit, client.tools().page(None)).await,
        Err(error) => Err(error),
    };
    Line::of("list", page.as_ref(), |page, line| Line {
        tools: Some(page.items.iter().map(|tool| tool.name.clone()).collect()),
        ..line
    })
    .print()?;

    let call = |n| call(runtime, limit, client.clone(), n);
    if std::env::var_os("MCP_CALLS").is_some_and(|value| value == "parallel") {
        let (one, (two, three)) = zip(call(1), zip(call(2), call(3))).await;
        one.and(two).and(three)?;
    } else {
        for n in 1..=3 {
            call(n).await?;
        }
    }

    let closed = match client.clone() {
        Ok(client) => step(runtime, limit, client.close()).await,
        Err(error) => Err(error),
    };
    Line::of("close", closed.as_ref(), |_, line| line).print()?;
    client.map(|_| ()).map_err(io::Error::other)
}

/// One call, and its line.
async fn call(
    runtime: &RuntimeHandle,
    limit: Duration,
    client: Result<&Client, String>,
    n: u8,
) -> io::Result<()> {
    let ping = Ping {
        text: format!("ping-{n}"),
    };
    let answer = match client {
        Ok(client) => step(runtime, limit, client.call_tool("echo", &ping)).await,
        Err(error) => Err(error),
    };
    let line = Line::of("call", answer.as_ref(), |answer, line| Line {
        text: first_text(&answer.content),
        ..line
    });
    Line { n: Some(n), ..line }.print()
}

/// `MCP_OP_TIMEOUT_MS`: how long one step may take.
pub(crate) fn limit() -> io::Result<Duration> {
    let milliseconds = match std::env::var("MCP_OP_TIMEOUT_MS") {
        Ok(text) => text.parse().map_err(|_| usage("MCP_OP_TIMEOUT_MS"))?,
        Err(_) => 5000,
    };
    Ok(Duration::from_millis(milliseconds))
}

/// `MCP_REV`: `auto` for whatever the server speaks, `2025-11-25` for the handshake, in which a
/// server may settle for an older revision, or another revision alone.
fn revisions() -> io::Result<RevisionSet> {
    match std::env::var("MCP_REV").as_deref() {
        Err(_) | Ok("auto" | "") => Ok(RevisionSet::all()),
        Ok("2025-11-25") => Ok(RevisionSet::legacy()),
        Ok(name) => {
            let revision: Revision = name.parse().map_err(|_| usage("MCP_REV"))?;
            Ok(RevisionSet::of(&[revision]))
        }
    }
}

pub(crate) fn usage(variable: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("{variable} is not understood"),
    )
}

/// A step that may fail, and may not take for ever.
pub(crate) async fn step<T, E: Into<Box<dyn Error>>>(
    runtime: &RuntimeHandle,
    limit: Duration,
    doing: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match within(runtime, limit, doing).await {
        Some(outcome) => outcome.map_err(|error| ErrorChain(&*error.into()).to_string()),
        None => Err("timed out".into()),
    }
}

pub(crate) fn first_text(content: &[Content]) -> Option<String> {
    let text = content.iter().find_map(Content::as_text)?;
    Some(text.chars().take(64).collect())
}

#[derive(Serialize)]
struct Ping {
    text: String,
}

const NOT_CONNECTED: &str = "not connected";
