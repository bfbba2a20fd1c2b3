//! Runs what blocks on a thread of its own.

use core::future::{Future, poll_fn};
use core::task::Poll;
use std::io;
use std::sync::Arc;
use std::thread;

use crate::sync::{Lock, Waiter};

struct Slot<T> {
    result: Option<io::Result<T>>,
    waker: Waiter,
}

/// Puts the result down, also if the thread panics.
struct Sender<T>(Arc<Lock<Slot<T>>>);

impl<T> Sender<T> {
    fn put(&self, result: io::Result<T>) {
        let waker = {
            let mut slot = self.0.lock();
            if slot.result.is_none() {
                slot.result = Some(result);
            }
            slot.waker.take()
        };
        waker.wake();
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.put(Err(io::Error::other("the thread ended without a result")));
    }
}

/// Runs the closure on a thread. If the future is dropped, the thread continues to its end, and
/// its result is dropped.
pub(super) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> impl Future<Output = io::Result<T>> + Send {
    let slot = Arc::new(Lock::new(Slot {
        result: None,
        waker: Waiter::new(),
    }));
    let sender = Sender(Arc::clone(&slot));
    let started = thread::Builder::new()
        .name("mcp-auth".into())
        .spawn(move || sender.put(work()));
    let mut failed = started.err();
    poll_fn(move |cx| {
        if let Some(error) = failed.take() {
            return Poll::Ready(Err(error));
        }
        let mut slot = slot.lock();
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                slot.waker.register(cx);
                Poll::Pending
            }
        }
    })
}
