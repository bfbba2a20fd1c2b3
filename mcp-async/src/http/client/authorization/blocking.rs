//! Runs what blocks on a thread of its own.

use std::io;
use std::thread;

use crate::connection::later;

/// Runs the closure on a thread. If the future is dropped, the thread continues to its end, and
/// its result is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (answer, result) = later();
    thread::Builder::new()
        .name("mcp-auth".into())
        .spawn(move || answer.give(work()))?;
    let ended = || Err(io::Error::other("the thread ended without a result"));
    result.value().await.unwrap_or_else(ended)
}
