use core::time::Duration;

use mcp_async::stdio::{Reactor, Sleep};

/// The reactor that all smol executors of a process share, as [`mcp_async`] sees it.
///
/// ```
/// use mcp_smol::Runtime;
/// use mcp_smol::net::HttpClient;
///
/// // What is generic over the runtime takes this one.
/// let http = HttpClient::<Runtime>::default();
/// # let _ = http;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Runtime;

impl Reactor for Runtime {
    #[cfg(unix)]
    fn register(
        &self,
        descriptor: std::os::fd::OwnedFd,
        interest: mcp_async::stdio::Interest,
    ) -> std::io::Result<Box<dyn mcp_async::stdio::Readiness>> {
        Ok(Box::new(descriptor::Descriptor::new(descriptor, interest)?))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let timer = smol::Timer::after(duration);
        Box::pin(async {
            timer.await;
        })
    }
}

impl mcp_async::Runtime for Runtime {
    fn reactor() -> &'static dyn Reactor {
        &Self
    }

    fn spawn(task: mcp_async::Task) {
        smol::spawn(task).detach();
    }

    fn spawn_blocking(work: mcp_async::Work) {
        smol::unblock(work).detach();
    }

    #[cfg(feature = "signal")]
    fn interrupted() -> mcp_async::Task {
        Box::pin(crate::signal::interrupted())
    }
}

#[cfg(unix)]
mod descriptor {
    use core::sync::atomic::{AtomicBool, Ordering};
    use core::task::{Context, Poll, ready};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use mcp_async::stdio::{Interest, Readiness};
    use smol::Async;

    /// A descriptor under the reactor's watch.
    #[derive(Debug)]
    pub(super) struct Descriptor {
        watched: Async<OwnedFd>,
        interest: Interest,
        /// The last call would have blocked, or its transfer was short: wait before the next.
        drained: AtomicBool,
    }

    impl Descriptor {
        pub(super) fn new(descriptor: OwnedFd, interest: Interest) -> io::Result<Self> {
            Ok(Self {
                // The other constructor would set `O_NONBLOCK`.
                watched: Async::new_nonblocking(descriptor)?,
                interest,
                drained: AtomicBool::new(false),
            })
        }
    }

    impl Readiness for Descriptor {
        fn poll_io(
            &self,
            task: &mut Context<'_>,
            expected: usize,
            io: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<usize>,
        ) -> Poll<io::Result<usize>> {
            loop {
                if !self.drained.load(Ordering::Relaxed) {
                    match io(self.watched.as_fd()) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            self.drained.store(true, Ordering::Relaxed);
                        }
                        result => {
                            let short = matches!(result, Ok(len) if len > 0 && len < expected);
                            self.drained.store(short, Ordering::Relaxed);
                            return Poll::Ready(result);
                        }
                    }
                }
                ready!(match self.interest {
                    Interest::Read => self.watched.poll_readable(task),
                    Interest::Write => self.watched.poll_writable(task),
                })?;
                self.drained.store(false, Ordering::Relaxed);
            }
        }
    }
}
