//! Standard streams, child processes and connections on smol: real ones, and the scripts of every adapter.

use mcp_smol as adapter;

#[path = "../../mcp-async/tests/adapter/glue.rs"]
mod glue;
#[path = "../../mcp-async/tests/adapter/process.rs"]
mod process;
#[path = "../../mcp-async/tests/adapter/script.rs"]
mod script;
#[cfg(unix)]
#[path = "../../mcp-async/tests/adapter/serving.rs"]
mod serving;
#[path = "../../mcp-async/tests/adapter/stdio.rs"]
mod stdio;

fn main() {
    let Some((role, arguments)) = script::role() else {
        return script::run(
            &[
                process::SCRIPTS,
                stdio::SCRIPTS,
                glue::SCRIPTS,
                #[cfg(unix)]
                serving::SCRIPTS,
            ]
            .concat(),
        );
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let played =
        process::play(&role, &arguments) || stdio::play(&role) || glue::play(&role, &arguments);
    #[cfg(unix)]
    let played = played || serving::play(&role, &arguments);
    assert!(played, "no such role: {role}");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    smol::block_on(future)
}

fn spawn_task(task: impl Future<Output = std::io::Result<()>> + Send + 'static) {
    smol::spawn(task).detach();
}

/// Both ends of a connection over loopback.
async fn sockets() -> (smol::net::TcpStream, smol::net::TcpStream) {
    let listener = smol::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let near = smol::net::TcpStream::connect(address).await.unwrap();
    (near, listener.accept().await.unwrap().0)
}
