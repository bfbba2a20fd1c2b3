//! The smallest server with state: one tool, over standard input and output.

use std::sync::Mutex;

use mcp_tokio::server::Json;
use mcp_tokio::{Server, schemars, stdio};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// The text of the note
    text: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Added {
    id: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    Server::builder("notes", "1.0")
        .with_state(Mutex::new(Vec::new()))
        .tool("add", "Adds a note", |args: Add, cx| async move {
            let mut notes = cx.state().lock().map_err(|_| "a handler has panicked")?;
            notes.push(args.text);
            Ok(Json(Added { id: notes.len() }))
        })
        .serve(stdio())
        .await
}
