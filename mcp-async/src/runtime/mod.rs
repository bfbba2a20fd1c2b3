//! Runtimes as values: what connections ask of one, the handle that they share, and a runtime that a program advances by
//! hand. The module does not depend on the protocol.
//!
//! A runtime comes with the transport or the connector that a program chooses: the functions of `mcp-tokio` and
//! `mcp-smol` bring theirs. To use another one, implement [`Runtime`] for it.

mod duplex;
mod handle;
mod manual;
pub mod monotonic;
mod race;
#[cfg(feature = "http-server")]
mod shared_task;
mod sleep;
mod split;
mod within;

use core::fmt;
use core::future::Future;
use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;
#[cfg(unix)]
use std::os::fd::{BorrowedFd, OwnedFd};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::Instant;

pub use self::duplex::{Duplex, PipeReader, PipeWriter, duplex, pipe};
pub use self::handle::RuntimeHandle;
pub use self::manual::ManualRuntime;
pub(crate) use self::race::{Either, race};
#[cfg(feature = "http-server")]
pub(crate) use self::shared_task::SharedTask;
pub(crate) use self::sleep::Sleep;
pub use self::split::{ReadHalf, WriteHalf, split};
pub use self::within::{Within, within};

/// An asynchronous runtime, as servers and clients see it: time, tasks, and readiness of descriptors and sockets.
///
/// Each adapter implements it on a unit struct. What a runtime cannot do has a default that says so: without
/// [`register`](Self::register) there are no child processes and no standard streams, without the methods for sockets
/// no HTTP of its own.
///
/// ```
/// use mcp_async::runtime::{RuntimeHandle, Task};
///
/// /// Runs a future in a task of its own, on any runtime.
/// fn in_background(runtime: &RuntimeHandle, work: impl Future<Output = ()> + Send + 'static) {
///     let task: Task = Box::pin(work);
///     runtime.spawn(task);
/// }
/// ```
pub trait Runtime: fmt::Debug + Send + Sync + 'static {
    /// Returns an error where the runtime does not run, so that nothing is begun that would panic.
    ///
    /// # Errors
    /// The runtime does not run here.
    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns the present moment: milliseconds since an epoch that never changes, never going back.
    ///
    /// Everything of one connection lives on the time line of its runtime. [`monotonic::now`] is that of the system.
    fn now(&self) -> Instant;

    /// Creates a timer, not armed. A connection makes one in its life, when it has to wait for the first time.
    fn timer(&self) -> BoxTimer;

    /// Runs the future in a task of its own, until it ends.
    ///
    /// # Panics
    /// May panic where the runtime does not run: dropping the future instead would leave tasks that wait for it
    /// pending.
    fn spawn(&self, task: Task);

    /// Runs the closure on a thread where it may block: the pool of the runtime for such work.
    ///
    /// # Panics
    /// May panic where the runtime does not run.
    fn spawn_blocking(&self, work: Work);

    /// Returns a future that completes when the program is asked to end: by SIGINT or SIGTERM, by Ctrl-C.
    ///
    /// From its first poll on these no longer end the process by themselves. By default, and in adapters that are built
    /// without their feature `signal`, they are left alone, and this is never done.
    fn interrupted(&self) -> Task {
        Box::pin(core::future::pending())
    }

    /// Begins to watch a descriptor for one direction.
    ///
    /// The flags of the descriptor are not changed: the caller ensures that no call on it blocks.
    ///
    /// # Errors
    /// `EPERM` for a descriptor that is always ready (a file, `/dev/null`), and whatever else the operating system
    /// says; an error, not a panic, where the runtime does not run.
    #[cfg(unix)]
    fn register(
        &self,
        descriptor: OwnedFd,
        interest: Interest,
    ) -> io::Result<Box<dyn WatchedDescriptor>> {
        drop((descriptor, interest));
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Puts a bound socket under the watch of the runtime.
    ///
    /// # Errors
    /// The operating system refuses, or the runtime does not run.
    fn listen(&self, socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
        drop(socket);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the addresses of a host, in the order in which the operating system would try them.
    ///
    /// # Errors
    /// The name is unknown, or no resolver could be reached.
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let _ = (host, port);
        Box::pin(core::future::ready(Err(io::ErrorKind::Unsupported.into())))
    }

    /// Connects to one address. There is no time limit but that of the operating system.
    ///
    /// # Errors
    /// Whatever the operating system says, or the runtime does not run.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<BoxStream>> {
        let _ = address;
        Box::pin(core::future::ready(Err(io::ErrorKind::Unsupported.into())))
    }
}

/// A future that a [`Runtime`] runs.
pub type Task = BoxFuture<'static, ()>;

/// A closure that a [`Runtime`] runs where it may block.
pub type Work = Box<dyn FnOnce() + Send>;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A timer in a box.
pub type BoxTimer = Pin<Box<dyn Timer>>;

/// A connected socket, or another byte stream that goes both ways, in a box.
pub type BoxStream = Box<dyn Stream>;

/// Waits for one moment at a time.
pub trait Timer: Send {
    /// Completes when `deadline` has come; else the task is woken when it does.
    ///
    /// The timer keeps only the last registration. A connection calls this for a new deadline or from a new task, not
    /// on every turn: the registration stays until it fires. The task is woken once the clock of the runtime has reached
    /// `deadline`, never earlier: a caller that sees an earlier time does not register again, so a timer of coarse
    /// resolution has to round up.
    fn poll_until(self: Pin<&mut Self>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()>;
}

/// A byte stream that goes both ways. Small writes leave at once (`TCP_NODELAY`).
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A socket that connections arrive at.
pub trait Listener: Send + Sync {
    /// Completes with the next connection and its address. Only the task of the last poll is woken.
    ///
    /// # Errors
    /// Whatever the operating system says. The listener is good for another call: an error is about one connection, or
    /// about resources that may be there a moment later.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(BoxStream, SocketAddr)>>;
}

/// A direction of a descriptor that is watched.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Bytes can be read, or the end has come.
    Read,
    /// Bytes can be written, or the reader has gone.
    Write,
}

/// A descriptor under a runtime's watch; dropped, it is no longer watched and closed.
#[cfg(unix)]
pub trait WatchedDescriptor: fmt::Debug + Send + Sync {
    /// Calls `io` until it says something else than [`WouldBlock`](io::ErrorKind::WouldBlock), waiting for readiness in
    /// between.
    ///
    /// A result below `expected` proves that the next call would block, which spares that call; zero where a short
    /// transfer proves nothing. An `io` that ends with an error or with zero proves nothing either.
    fn poll_io(
        &self,
        task: &mut Context<'_>,
        expected: usize,
        io: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>>;
}
