#[cfg(any(feature = "http-server", feature = "http-client"))]
use core::net::SocketAddr;
use std::io;

#[cfg(any(feature = "http-server", feature = "http-client"))]
use mcp_async::runtime::{BoxFuture, BoxStream, Listener};
use mcp_async::runtime::{BoxTimer, Task, Work, monotonic};
use mcp_proto::Instant;

#[cfg(any(feature = "http-server", feature = "http-client"))]
use crate::sockets;
use crate::timer;

/// The reactor that all smol executors of a process share, as [`mcp_async`] sees it.
///
/// ```
/// use mcp_smol::Runtime;
/// use mcp_smol::net::HttpClient;
///
/// // A value with I/O of its own takes this one.
/// let http = HttpClient::default();
/// http.start(Runtime);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Runtime;

impl mcp_async::runtime::Runtime for Runtime {
    /// The reactor starts by itself.
    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn now(&self) -> Instant {
        monotonic::now()
    }

    fn timer(&self) -> BoxTimer {
        Box::pin(timer::Timer::default())
    }

    fn spawn(&self, task: Task) {
        smol::spawn(task).detach();
    }

    fn spawn_blocking(&self, work: Work) {
        smol::unblock(work).detach();
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
        Ok(Box::new(descriptor::Descriptor::new(descriptor, interest)?))
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn listen(&self, socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
        sockets::listen(socket)
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(sockets::resolve(host, port))
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<BoxStream>> {
        Box::pin(sockets::dial(address))
    }
}

#[cfg(unix)]
mod descriptor {
    use core::sync::atomic::{AtomicBool, Ordering};
    use core::task::{Context, Poll, ready};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use mcp_async::runtime::{Interest, WatchedDescriptor};
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

    impl WatchedDescriptor for Descriptor {
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
