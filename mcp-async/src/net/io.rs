//! Byte streams for hyper, with the time limits that hyper lacks.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io::{self, IoSlice, Write as _};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt::ReadBufCursor;

use crate::runtime::{RuntimeHandle, Sleep};
use crate::scratch::{SIZE, with_scratch};

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

type OnBlocked = Box<dyn Fn(bool) + Send>;

pub(crate) struct Io<S> {
    stream: S,
    runtime: RuntimeHandle,
    on_blocked: Option<OnBlocked>,
    stall: Duration,
    stalled: Option<Sleep>,
    /// True if several slices become one write.
    vectored: bool,
}

impl<S> Io<S> {
    /// The stream to a peer that has to take what is written within `stall`.
    pub(crate) fn new(runtime: &RuntimeHandle, stream: S, vectored: bool, stall: Duration) -> Self {
        Self {
            stream,
            runtime: runtime.clone(),
            on_blocked: None,
            stall,
            stalled: None,
            vectored,
        }
    }

    /// Sets a function that is called with `true` when writes begin to wait for the peer, and with `false` when they continue.
    #[cfg(feature = "http-server")]
    pub(crate) fn on_blocked(mut self, call: impl Fn(bool) + Send + 'static) -> Self {
        self.on_blocked = Some(Box::new(call));
        self
    }

    /// Passes a write's result on, or says that it took too long.
    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            if self.stalled.take().is_some() {
                self.set_blocked(false);
            }
            return result;
        }
        if self.stalled.is_none() {
            self.set_blocked(true);
        }
        let (runtime, stall) = (&self.runtime, self.stall);
        let stalled = self
            .stalled
            .get_or_insert_with(|| Sleep::after(runtime, stall));
        ready!(stalled.poll_done(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn set_blocked(&self, is_blocked: bool) {
        if let Some(call) = &self.on_blocked {
            call(is_blocked);
        }
    }
}

impl<S: AsyncWrite + Unpin> Io<S> {
    /// Writes a few bytes as one slice.
    fn poll_gathered(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        len: usize,
    ) -> Poll<io::Result<usize>> {
        with_scratch(|scratch| {
            let mut room = scratch.as_mut_slice();
            for slice in slices {
                room.write_all(slice)?;
            }
            let bytes = scratch.get(..len).unwrap_or_default();
            Pin::new(&mut self.stream).poll_write(cx, bytes)
        })
    }
}

impl<S: AsyncRead + Unpin> hyper::rt::Read for Io<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        with_scratch(|scratch| {
            let wanted = buffer.remaining().min(SIZE);
            let bytes = scratch.get_mut(..wanted).unwrap_or_default();
            let read = ready!(Pin::new(&mut this.stream).poll_read(cx, bytes))?;
            buffer.put_slice(bytes.get(..read).unwrap_or_default());
            Poll::Ready(Ok(()))
        })
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
        let len = slices.iter().map(|slice| slice.len()).sum();
        let written = match len <= FEW {
            true => self.poll_gathered(cx, slices, len),
            false => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        };
        self.written(cx, written)
    }
}

/// The number of bytes that are copied into one slice in less time than the system takes for several.
const FEW: usize = 2 << 10;
