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

    /// Ready again and again once the process has ended.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let mut shared = self.shared.lock();
        match &shared.end {
            Some(Ok(status)) => Poll::Ready(Ok(*status)),
            Some(Err(error)) => {
                let code = error.raw_os_error();
                let kind = || error.kind().into();
                Poll::Ready(Err(code.map_or_else(kind, io::Error::from_raw_os_error)))
            }
            None => {
                shared.waker.register(task);
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::task::Waker;

    use super::*;

    #[track_caller]
    fn check(end: fn() -> io::Result<ExitStatus>) {
        let mut waiter = Waiter::spawn(end).unwrap();
        let mut poll = || waiter.poll(&mut Context::from_waker(Waker::noop()));
        while poll().is_pending() {
            thread::yield_now();
        }
        let Poll::Ready(known) = poll() else {
            panic!("the end was given out once");
        };
        let kind = |end: io::Result<_>| end.map_err(|error| error.kind());
        assert_eq!(kind(known), kind(end()));
    }

    #[test]
    fn the_end_is_known_from_then_on() {
        check(|| Ok(ExitStatus::default()));
        check(|| Err(io::Error::from_raw_os_error(10)));
        check(|| Err(io::ErrorKind::TimedOut.into()));
    }
}
