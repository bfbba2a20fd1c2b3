//! A server over HTTP.

use mcp_tokio::{Server, schemars, tcp};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    Server::builder("echo", "1.0")
        .tool("echo", "Says it again", |said: Said, _| async move {
            Ok(said.text)
        })
        .http()
        .serve(tcp("127.0.0.1:8000"))
        .await
}
