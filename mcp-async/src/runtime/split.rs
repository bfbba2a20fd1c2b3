//! The two halves of a bidirectional stream.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};

use crate::sync::Lock;

/// Takes a stream that goes both ways, a socket say, apart into the pair that a connection wants.
///
/// The stream is dropped, and with it closed, when both halves are. A connection polls both from
/// one task, so the lock between them is never waited for.
pub fn split<T: AsyncRead + AsyncWrite + Unpin>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let stream = Arc::new(Lock::new(stream));
    let reader = Arc::clone(&stream);
    (ReadHalf { stream: reader }, WriteHalf { stream })
}

/// The half of a stream that reads; see [`split`].
pub struct ReadHalf<T> {
    stream: Arc<Lock<T>>,
}

/// The half of a stream that writes; see [`split`].
pub struct WriteHalf<T> {
    stream: Arc<Lock<T>>,
}

impl<T: AsyncRead + Unpin> AsyncRead for ReadHalf<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream.lock()).poll_read(task, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteHalf<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream.lock()).poll_write(task, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream.lock()).poll_flush(task)
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream.lock()).poll_close(task)
    }
}

impl<T> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadHalf").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteHalf").finish_non_exhaustive()
    }
}
