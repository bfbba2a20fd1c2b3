#[cfg(any(feature = "http-server", feature = "http-client"))]
use core::net::SocketAddr;
use std::io;

#[cfg(any(feature = "http-server", feature = "http-client"))]
use mcp_async::runtime::{BoxFuture, BoxStream, Listener};
use mcp_async::runtime::{BoxTimer, Task, Work, monotonic};
use mcp_proto::Instant;
use tokio::runtime::Handle;

#[cfg(any(feature = "http-server", feature = "http-client"))]
use crate::sockets;
use crate::timer;

/// The tokio runtime that the calling task runs on, as [`mcp_async`] sees it.
///
/// Build the runtime with `enable_all`: without its time driver tokio panics at the first timer, without its I/O driver at
/// the first socket or descriptor.
///
/// ```
/// use mcp_tokio::Runtime;
/// use mcp_tokio::net::HttpClient;
///
/// // A value with I/O of its own takes this one.
/// let http = HttpClient::default();
/// http.start(Runtime);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Runtime;

impl mcp_async::runtime::Runtime for Runtime {
    fn check(&self) -> io::Result<()> {
        Handle::try_current().map(drop).map_err(io::Error::other)
    }

    fn now(&self) -> Instant {
        monotonic::now()
    }

    fn timer(&self) -> BoxTimer {
        Box::pin(timer::Timer::default())
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        tokio::task::spawn_blocking(work);
    }

    #[cfg(feature = "signal")]
    fn interrupted(&self) -> Task {
        Box::pin(crate::signal::interrupted())
    }

    #[cfg(unix)]
    fn register(
        &self,
        descriptor: std::os::fd::OwnedFd,
        interest: mcp_async::runtime::Interest,
    ) -> io::Result<Box<dyn mcp_async::runtime::WatchedDescriptor>> {
        // `AsyncFd` would panic, and so would what is made of sockets.
        self.check()?;
        Ok(Box::new(descriptor::Descriptor::new(descriptor, interest)?))
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn listen(&self, socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
        self.check()?;
        sockets::listen(socket)
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move {
            self.check()?;
            sockets::resolve(host, port).await
        })
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<BoxStream>> {
        Box::pin(async move {
            Self.check()?;
            sockets::dial(address).await
        })
    }
}

#[cfg(unix)]
mod descriptor {
    use core::task::{Context, Poll, ready};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use mcp_async::runtime::{Interest, WatchedDescriptor};
    use tokio::io::unix::AsyncFd;

    /// A descriptor under the runtime's watch.
    #[derive(Debug)]
    pub(super) struct Descriptor {
        watched: AsyncFd<OwnedFd>,
        interest: Interest,
    }

    impl Descriptor {
        pub(super) fn new(descriptor: OwnedFd, interest: Interest) -> io::Result<Self> {
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

    impl WatchedDescriptor for Descriptor {
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
