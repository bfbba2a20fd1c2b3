use std::io;

use mcp_async::process::{Command, Process};

use crate::Runtime;

/// Starts a server as a child process and hands back the wire to it; [`spawn`](crate::spawn) goes on
/// from there to a client.
///
/// See [`mcp_async::process`] for what becomes of the child and of what it starts in turn.
///
/// # Errors
///
/// The program cannot be started, or no runtime is running here. Nothing is left running then.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use mcp_tokio::Command;
///
/// let process = mcp_tokio::start(&Command::new("npx").args(["-y", "some-server"]))?;
/// // ... a conversation over process.stdin and process.stdout ...
/// drop((process.stdin, process.stdout));
/// process.child.shutdown().await?;
/// # Ok(())
/// # }
/// ```
pub fn start(command: &Command) -> io::Result<Process> {
    command.spawn(&Runtime)
}
