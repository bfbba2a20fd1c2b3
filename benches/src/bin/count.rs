//! A [`Run`](mcp_benches::Run) of this library.

fn main() {
    mcp_benches::Run::from_arguments().ours();
}
