//! A stream of ours as hyper wants it, with the time limits that hyper does not have.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io::{self, IoSlice};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt::ReadBufCursor;

use super::time::Nap;
use crate::Runtime;

/// What is read in one go, on the stack: half of what hyper begins its buffers with.
const READ: usize = 8 * 1024;

/// As many bytes as tell one version of HTTP from the other: the preface of HTTP/2 (RFC 9113 3.4).
const PREFACE: usize = 24;

pub(crate) struct Io<S, R: Runtime> {
    stream: S,
    /// Until these many bytes have come, or anything was written, `first` runs.
    opening: usize,
    first: Option<Nap<R>>,
    stall: Duration,
    stalled: Option<Nap<R>>,
    /// Whether several slices become one write.
    vectored: bool,
}

impl<S, R: Runtime> Io<S, R> {
    /// The stream of a client that has to begin within `opening`, and to take what is written
    /// within `stall`.
    pub(crate) fn accepted(stream: S, vectored: bool, opening: Duration, stall: Duration) -> Self {
        Self {
            opening: PREFACE,
            first: Some(Nap::after(opening)),
            ..Self::dialled(stream, vectored, stall)
        }
    }

    /// The stream to a server that has to take what is written within `stall`.
    pub(crate) const fn dialled(stream: S, vectored: bool, stall: Duration) -> Self {
        Self {
            stream,
            opening: 0,
            first: None,
            stall,
            stalled: None,
            vectored,
        }
    }

    /// Passes a write's result on, or says that it took too long.
    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            (self.first, self.stalled) = (None, None);
            return result;
        }
        let stall = self.stall;
        let stalled = self.stalled.get_or_insert_with(|| Nap::after(stall));
        ready!(stalled.poll_done(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin, R: Runtime> hyper::rt::Read for Io<S, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let mut bytes = [0; READ];
        let wanted = buffer.remaining().min(READ);
        let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(cx, &mut bytes[..wanted])?
        else {
            if let Some(first) = &mut this.first {
                ready!(first.poll_done(cx));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            return Poll::Pending;
        };
        this.opening = this.opening.saturating_sub(read);
        if this.opening == 0 {
            this.first = None;
        }
        buffer.put_slice(bytes.get(..read).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, R: Runtime> hyper::rt::Write for Io<S, R> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.written(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_close(cx);
        self.written(cx, closed)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, written)
    }
}
