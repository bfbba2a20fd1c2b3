use std::io;

use mcp_async::stdio::{Claim, Input, Output};

use crate::Runtime;

/// Takes this process's standard input and output as the wire of a server, once.
///
/// See [`mcp_async::stdio`] for how they are driven, and [`Claim`] for what the rest of the
/// process sees afterwards.
///
/// # Errors
///
/// They were taken already, the operating system refuses, or no runtime is running here.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use mcp_tokio::Claim;
///
/// let (input, output) = mcp_tokio::stdio(Claim::Exclusive)?;
/// println!("this goes to standard error");
/// # Ok(())
/// # }
/// ```
pub fn stdio(claim: Claim) -> io::Result<(Input, Output)> {
    mcp_async::stdio::open(&Runtime, claim)
}
