//! A [`Run`](mcp_benches::Run) of this library with its feature `simd`.

fn main() {
    mcp_benches::Run::from_arguments().ours();
}
