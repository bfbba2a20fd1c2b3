//! A server inside an axum program, on smol: `curl http://127.0.0.1:8000/health`, and `/mcp` for
//! clients that send `Authorization: Bearer open sesame`.

#[path = "../../mcp-async/examples/adapter/mount.rs"]
mod mount;

use mcp_smol::net::Listen;
use mcp_smol::{self as adapter, Runtime};

fn main() -> std::io::Result<()> {
    let listen = Listen::bind("127.0.0.1:8000")?;
    smol::block_on(listen.serve::<Runtime, _, _>(mount::router(), mount::interrupted()))
}
