//! Readiness of descriptors, and waiting for time to pass.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

#[cfg(unix)]
use core::task::{Context, Poll};
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::{BorrowedFd, OwnedFd};

/// A future that is done when its time has passed.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The part of a runtime that waits for streams, child processes and time.
///
/// Implemented once by each adapter, on a unit struct. To run on another runtime, implement it
/// there; the streams and the child processes of this crate ask for nothing else.
pub trait Reactor: fmt::Debug + Sync {
    /// Begins to watch a descriptor for one direction.
    ///
    /// The flags of the descriptor are not changed: the caller ensures that no call on it
    /// blocks.
    ///
    /// # Errors
    ///
    /// `EPERM` for a descriptor that is always ready (a file, `/dev/null`), and whatever else the
    /// operating system says; an error, not a panic, where the runtime is not running.
    #[cfg(unix)]
    fn register(&self, descriptor: OwnedFd, interest: Interest) -> io::Result<Box<dyn Readiness>>;

    /// A future that is done after `duration`.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The readiness of a descriptor that is watched.
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
pub trait Readiness: fmt::Debug + Send + Sync {
    /// Calls `io` until it says something else than [`WouldBlock`](io::ErrorKind::WouldBlock),
    /// waiting for readiness in between.
    ///
    /// A result below `expected` proves that the next call would block, which spares that call;
    /// zero where a short transfer proves nothing. An `io` that ends with an error or with zero
    /// proves nothing either.
    fn poll_io(
        &self,
        task: &mut Context<'_>,
        expected: usize,
        io: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>>;
}
