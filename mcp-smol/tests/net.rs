//! Sockets, HTTP and TLS on smol.

use mcp_smol as adapter;

#[path = "../../mcp-async/tests/adapter/net/mod.rs"]
mod net;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    smol::block_on(future)
}
