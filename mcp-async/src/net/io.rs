//! Byte streams for hyper, with the time limits that hyper lacks.

use core::cell::Cell;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io::{self, IoSlice};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt::ReadBufCursor;

use crate::runtime::{RuntimeHandle, Sleep};

/// The bytes that are read in one go: half of the size that hyper begins its buffers with.
const READ: usize = 8 * 1024;

std::thread_local! {
    /// The buffer of a read, from which hyper copies the bytes: made once for a thread, because to
    /// fill so much with zeros for each read takes longer than to read a small request.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends the scratch buffer of the thread, or another one if that is in use.
fn with_scratch<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
    scratch.resize(READ, 0);
    let result = read(&mut scratch);
    // A thread that ends has none any more.
    let _ = SCRATCH.try_with(|place| place.set(scratch));
    result
}

/// Writes all of these bytes, which may have to be flushed.
pub(crate) async fn write_all<S: AsyncWrite + Unpin>(
    stream: &mut S,
    mut rest: &[u8],
) -> io::Result<()> {
    while !rest.is_empty() {
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, rest)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// As many bytes as tell one version of HTTP from the other: the preface of HTTP/2 (RFC 9113 3.4).
const PREFACE: usize = 24;

pub(crate) struct Io<S> {
    stream: S,
    runtime: RuntimeHandle,
    /// Until these many bytes have come, or anything was written, `first` runs.
    opening: usize,
    first: Option<Sleep>,
    stall: Duration,
    stalled: Option<Sleep>,
    /// True if several slices become one write.
    vectored: bool,
}

impl<S> Io<S> {
    /// The stream of a client that has to begin within `opening`, and to take what is written
    /// within `stall`.
    pub(crate) fn accepted(
        runtime: &RuntimeHandle,
        stream: S,
        vectored: bool,
        opening: Duration,
        stall: Duration,
    ) -> Self {
        Self {
            opening: PREFACE,
            first: Some(Sleep::after(runtime, opening)),
            ..Self::dialled(runtime, stream, vectored, stall)
        }
    }

    /// The stream to a server that has to take what is written within `stall`.
    pub(crate) fn dialled(
        runtime: &RuntimeHandle,
        stream: S,
        vectored: bool,
        stall: Duration,
    ) -> Self {
        Self {
            stream,
            runtime: runtime.clone(),
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
        let (runtime, stall) = (&self.runtime, self.stall);
        let stalled = self
            .stalled
            .get_or_insert_with(|| Sleep::after(runtime, stall));
        ready!(stalled.poll_done(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> hyper::rt::Read for Io<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let read = with_scratch(|scratch| {
            let wanted = buffer.remaining().min(scratch.len());
            let bytes = scratch.get_mut(..wanted).unwrap_or_default();
            let read = ready!(Pin::new(&mut this.stream).poll_read(cx, bytes))?;
            buffer.put_slice(bytes.get(..read).unwrap_or_default());
            Poll::Ready(io::Result::Ok(read))
        })?;
        let Poll::Ready(read) = read else {
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
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> hyper::rt::Write for Io<S> {
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
