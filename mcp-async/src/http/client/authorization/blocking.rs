//! Runs blocking work on a thread of its own.

use std::io;
use std::thread;

use crate::connection::oneshot;

/// Runs the closure on a thread, which starts when the future is first polled. If the future is
/// dropped after that, the thread continues to its end, and its result is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new()
        .name("mcp-auth".into())
        .spawn(move || sender.send(work()))?;
    let ended = || Err(io::Error::other("the thread ended without a result"));
    receiver.recv().await.unwrap_or_else(ended)
}
