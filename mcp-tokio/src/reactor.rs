use core::time::Duration;

use mcp_async::stdio::{Reactor, Sleep};

/// The tokio runtime that the calling task runs on, as [`mcp_async`] sees it.
///
/// It needs the runtime's IO and time drivers: build the runtime with `enable_all`.
///
/// ```
/// use mcp_tokio::Runtime;
/// use mcp_tokio::net::HttpClient;
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
        Box::pin(tokio::time::sleep(duration))
    }
}

impl mcp_async::Runtime for Runtime {
    fn reactor() -> &'static dyn Reactor {
        &Self
    }

    fn spawn(task: mcp_async::Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(work: mcp_async::Work) {
        tokio::task::spawn_blocking(work);
    }

    #[cfg(feature = "signal")]
    fn interrupted() -> mcp_async::Task {
        Box::pin(crate::signal::interrupted())
    }
}

#[cfg(unix)]
mod descriptor {
    use core::task::{Context, Poll, ready};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use mcp_async::stdio::{Interest, Readiness};
    use tokio::io::unix::AsyncFd;
    use tokio::runtime::Handle;

    /// A descriptor under the runtime's watch.
    #[derive(Debug)]
    pub(super) struct Descriptor {
        watched: AsyncFd<OwnedFd>,
        interest: Interest,
    }

    impl Descriptor {
        pub(super) fn new(descriptor: OwnedFd, interest: Interest) -> io::Result<Self> {
            // `AsyncFd` would panic.
            Handle::try_current().map_err(io::Error::other)?;
            let direction = match interest {
                Interest::Read => tokio::io::Interest::READABLE,
                Interest::Write => tokio::io::Interest::WRITABLE,
            };
            #[expect(
                deprecated,
                reason = "its replacement needs a promise that types keep their descriptor, \
                          which an `OwnedFd` does"
            )]
            let watched = AsyncFd::try_with_interest(descriptor, direction)
                .map_err(|error| error.into_parts().1)?;
            Ok(Self { watched, interest })
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
                let mut ready = ready!(match self.interest {
                    Interest::Read => self.watched.poll_read_ready(task),
                    Interest::Write => self.watched.poll_write_ready(task),
                })?;
                let Ok(result) = ready.try_io(|watched| io(watched.as_fd())) else {
                    continue;
                };
                if matches!(result, Ok(len) if len > 0 && len < expected) {
                    ready.clear_ready();
                }
                return Poll::Ready(result);
            }
        }
    }
}
