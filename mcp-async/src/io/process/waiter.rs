use core::task::{Context, Poll};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;

use crate::sync::{self, Lock};

/// A thread that waits for a process, where the end of one cannot be watched otherwise.
#[derive(Debug)]
pub(super) struct Waiter {
    shared: Arc<Lock<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    end: Option<io::Result<ExitStatus>>,
    waker: sync::Waiter,
}

impl Waiter {
    /// Calls `wait`, which blocks, in a thread of its own.
    pub(super) fn spawn(
        wait: impl FnOnce() -> io::Result<ExitStatus> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Lock::new(Shared::default()));
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("mcp-wait".into())
            .spawn(move || {
                let end = wait();
                let task = {
                    let mut shared = theirs.lock();
                    shared.end = Some(end);
                    shared.waker.take()
                };
                task.wake();
            })?;
        Ok(Self { shared })
    }

    /// Gives the end out once.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let mut shared = self.shared.lock();
        match shared.end.take() {
            Some(end) => Poll::Ready(end),
            None => {
                shared.waker.register(task);
                Poll::Pending
            }
        }
    }
}
