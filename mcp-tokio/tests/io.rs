//! Standard streams and child processes on tokio: real ones, and the scripts of every adapter.

use mcp_tokio as adapter;

#[path = "../../mcp-async/tests/adapter/process.rs"]
mod process;
#[path = "../../mcp-async/tests/adapter/script.rs"]
mod script;
#[path = "../../mcp-async/tests/adapter/stdio.rs"]
mod stdio;

fn main() {
    let Some((role, arguments)) = script::role() else {
        return script::run(&[process::SCRIPTS, stdio::SCRIPTS].concat());
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let played = process::play(&role, &arguments) || stdio::play(&role);
    assert!(played, "no such role: {role}");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}
