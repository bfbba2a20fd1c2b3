//! A client of this library that makes calls.

use std::io::{self, Error};
use std::sync::Arc;

use mcp_async::client::Connector;
use mcp_tokio::mcp_proto::RevisionSet;
use mcp_tokio::{Client, Command};
use serde_json::json;
use tokio::task::JoinSet;

use crate::child;
use crate::ours::tokio_runtime;
use crate::requests::{Era, SAID};

/// Makes so many calls on tokio, to the server on this port or, without one, to a child process on a pipe: as many at once as `depth`.
pub(crate) fn call(era: Era, calls: usize, depth: usize, port: Option<u16>) -> io::Result<()> {
    tokio_runtime()?.block_on(async {
        let client = match port {
            Some(port) => connect(era, mcp_tokio::http(url(port))).await,
            None => connect(era, mcp_tokio::child(server()?)).await,
        };
        let client = Arc::new(client?);
        let mut callers = JoinSet::new();
        for _ in 0..depth {
            let client = Arc::clone(&client);
            callers.spawn(async move { call_in_turn(&client, calls / depth).await });
        }
        callers
            .join_all()
            .await
            .into_iter()
            .collect::<io::Result<()>>()?;
        let client = Arc::into_inner(client).ok_or_else(|| Error::other("a caller is left"))?;
        client.close().await.map(drop)
    })
}

/// Makes so many calls one after the other, and prints the nanoseconds of CPU that one took.
pub(crate) fn call_alone(runtime: &str, calls: usize, port: Option<u16>) -> io::Result<()> {
    match (runtime, port) {
        ("tokio", Some(port)) => {
            tokio_runtime()?.block_on(alone(mcp_tokio::http(url(port)), calls))
        }
        ("tokio", None) => tokio_runtime()?.block_on(alone(mcp_tokio::child(server()?), calls)),
        ("smol", Some(port)) => smol::block_on(alone(mcp_smol::http(url(port)), calls)),
        ("smol", None) => smol::block_on(alone(mcp_smol::child(server()?), calls)),
        _ => Err(Error::other("a runtime is tokio or smol")),
    }
}

async fn alone(connector: impl Connector, calls: usize) -> io::Result<()> {
    let client = connect(Era::Legacy, connector).await?;
    call_in_turn(&client, calls / 10).await?;
    let before = child::cpu_of(std::process::id())?;
    call_in_turn(&client, calls).await?;
    println!(
        "{}",
        (child::cpu_of(std::process::id())? - before) / calls as u64
    );
    client.close().await.map(drop)
}

async fn connect(era: Era, connector: impl Connector) -> io::Result<Client> {
    let revision = era.name().parse().map_err(Error::other)?;
    let builder = Client::builder("bench", "1.0").revisions(RevisionSet::of(&[revision]));
    builder.connect(connector).await.map_err(Error::other)
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// The server in a child process.
fn server() -> io::Result<Command> {
    Ok(Command::new(std::env::current_exe()?).args(["pipe", "mcp-tokio"]))
}

/// Makes so many calls one after the other.
async fn call_in_turn(client: &Client, calls: usize) -> io::Result<()> {
    let arguments = json!({"text": SAID});
    for _ in 0..calls {
        let answer = client.call_tool("echo", &arguments).await;
        assert_eq!(answer.map_err(Error::other)?.text(), SAID);
    }
    Ok(())
}
