//! A client of this library that makes calls.

use std::io::{self, Error};

use mcp_tokio::mcp_proto::RevisionSet;
use mcp_tokio::{Client, Command, child, http};
use serde_json::json;

use crate::ours::tokio_runtime;
use crate::requests::Era;

/// Makes so many calls, to the server on this port or, without one, to a child process on a pipe.
pub(crate) fn call(era: Era, calls: usize, port: Option<u16>) -> io::Result<()> {
    tokio_runtime()?.block_on(async {
        let revision = era.name().parse().map_err(Error::other)?;
        let builder = Client::builder("bench", "1.0").revisions(RevisionSet::of(&[revision]));
        let client = match port {
            Some(port) => {
                let server = http(format!("http://127.0.0.1:{port}/mcp"));
                builder.connect(server).await
            }
            None => {
                let server = Command::new(std::env::current_exe()?).args(["pipe"]);
                builder.connect(child(server)).await
            }
        };
        let client = client.map_err(Error::other)?;
        let arguments = json!({"text": "as it was said"});
        for _ in 0..calls {
            let answer = client
                .call_tool("echo", &arguments)
                .await
                .map_err(Error::other)?;
            assert_eq!(answer.text(), "as it was said");
        }
        client.close().await.map(drop)
    })
}
