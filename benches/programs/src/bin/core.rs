//! A server on standard input and output, of the machine alone.

#[path = "../core_server.rs"]
mod core_server;

fn main() -> std::io::Result<()> {
    core_server::serve(16 << 10)
}
