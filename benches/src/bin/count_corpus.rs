//! A [`Run`](mcp_benches::Run) of this library on an input of a fuzz corpus.

fn main() {
    mcp_benches::Run::from_arguments().corpus();
}
