//! A server on standard input and output.

use mcp_tokio::{Server, schemars, stdio};

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
        .serve(stdio())
        .await
}
