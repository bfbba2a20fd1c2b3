//! Blocking work in a thread of its own, while the connection continues.

use std::thread;

use tokio::sync::{Semaphore, oneshot};

/// Runs `work` in a thread of its own, and the connection meanwhile. `None` if it panicked or
/// no thread could be started. Waits while there are [many](MOST) threads: their work does not end with the
/// future, so a server that takes its questions back would otherwise start any number.
pub(crate) async fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    static THREADS: Semaphore = Semaphore::const_new(MOST);
    let permit = THREADS.acquire().await.ok()?;
    let (sender, receiver) = oneshot::channel();
    // A thread that could not be started drops the sender.
    let _ = thread::Builder::new()
        .name("question".to_owned())
        .spawn(move || {
            let _permit = permit;
            sender.send(work())
        });
    receiver.await.ok()
}

/// The threads that work at once.
const MOST: usize = 16;
