//! A client of this library that makes calls.

use std::io::{self, Error};
use std::sync::Arc;

use mcp_tokio::mcp_proto::RevisionSet;
use mcp_tokio::{Client, Command, child, http};
use serde_json::json;
use tokio::task::JoinSet;

use crate::ours::tokio_runtime;
use crate::requests::{Era, SAID};

/// Makes so many calls, to the server on this port or, without one, to a child process on a pipe: as many at once as `depth`.
pub(crate) fn call(era: Era, calls: usize, depth: usize, port: Option<u16>) -> io::Result<()> {
    tokio_runtime()?.block_on(async {
        let revision = era.name().parse().map_err(Error::other)?;
        let builder = Client::builder("bench", "1.0").revisions(RevisionSet::of(&[revision]));
        let client = match port {
            Some(port) => {
                let server = http(format!("http://127.0.0.1:{port}/mcp"));
                builder.connect(server).await
            }
            None => {
                let server = Command::new(std::env::current_exe()?).args(["pipe", "mcp-tokio"]);
                builder.connect(child(server)).await
            }
        };
        let client = Arc::new(client.map_err(Error::other)?);
        let mut callers = JoinSet::new();
        for _ in 0..depth {
            callers.spawn(call_in_turn(Arc::clone(&client), calls / depth));
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

/// Makes so many calls one after the other.
async fn call_in_turn(client: Arc<Client>, calls: usize) -> io::Result<()> {
    let arguments = json!({"text": SAID});
    for _ in 0..calls {
        let answer = client.call_tool("echo", &arguments).await;
        assert_eq!(answer.map_err(Error::other)?.text(), SAID);
    }
    Ok(())
}
