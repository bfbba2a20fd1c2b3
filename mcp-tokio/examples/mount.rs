//! A server inside an axum program: `curl http://127.0.0.1:8000/health`, and `/mcp` for clients
//! that send `Authorization: Bearer open sesame`.

#[path = "../../mcp-async/examples/adapter/mount.rs"]
mod mount;

use mcp_tokio as adapter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, mount::router())
        .with_graceful_shutdown(mount::interrupted())
        .await
}
