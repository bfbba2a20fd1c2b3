//! A [`Run`](mcp_benches::Run) of what parses in more than one place, which the compiler does not inline there.

fn main() {
    mcp_benches::Run::from_arguments().streams();
}
