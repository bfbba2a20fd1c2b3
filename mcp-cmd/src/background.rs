//! Blocking work in a thread of its own, while the connection continues.

use std::thread;

use tokio::sync::oneshot;

/// Runs `work` in a thread of its own, and the connection meanwhile. `None` if it panicked or
/// no thread could be started. The work does not end with the future.
pub(crate) async fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    // A thread that could not be started drops the sender.
    let _ = thread::Builder::new()
        .name("question".to_owned())
        .spawn(move || sender.send(work()));
    receiver.await.ok()
}
