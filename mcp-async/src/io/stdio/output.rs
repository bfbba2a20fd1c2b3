use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, Write};

use futures_io::AsyncWrite;

use super::descriptor::Descriptor;
use super::thread::ThreadWriter;

/// Bytes that go out: standard output, or a child's input.
///
/// `poll_close` closes the descriptor, and so does the drop; for a child's input that is how its
/// shutdown begins. Bytes that a thread still holds at the drop are written first, without anyone
/// waiting for it: flush or close where the bytes matter.
pub struct Output {
    sink: Sink,
}

enum Sink {
    Descriptor(Descriptor),
    Thread(ThreadWriter),
    Closed,
}

impl Output {
    /// Writes through a thread of its own: for what no runtime can watch.
    ///
    /// At most 128 KiB are on their way at any time.
    ///
    /// # Errors
    ///
    /// The operating system has no thread to give.
    pub fn from_writer(writer: impl Write + Send + 'static) -> io::Result<Self> {
        Ok(Self {
            sink: Sink::Thread(ThreadWriter::spawn(writer)?),
        })
    }

    /// Returns the way in which the output waits to write, for tracing and tests: `watched`,
    /// `direct`, `thread` or `closed`.
    pub const fn mode(&self) -> &'static str {
        match self.sink {
            Sink::Descriptor(ref descriptor) => descriptor.mode(),
            Sink::Thread(_) => "thread",
            Sink::Closed => "closed",
        }
    }
}

#[cfg(unix)]
impl Output {
    /// Writes to a descriptor that others may share, without setting a flag on it.
    ///
    /// # Errors
    ///
    /// The descriptor cannot be examined, or the operating system has no thread to give.
    pub fn inherited(
        runtime: &dyn crate::runtime::Runtime,
        descriptor: std::os::fd::OwnedFd,
    ) -> io::Result<Self> {
        match Descriptor::inherited(runtime, descriptor, crate::runtime::Interest::Write)? {
            Ok(descriptor) => Ok(Self {
                sink: Sink::Descriptor(descriptor),
            }),
            Err(file) => Self::from_writer(file),
        }
    }

    /// Writes to a pipe or stream socket whose open file description is this program's alone.
    /// It is made non-blocking.
    ///
    /// # Errors
    ///
    /// The runtime cannot watch it.
    pub fn owned(
        runtime: &dyn crate::runtime::Runtime,
        descriptor: std::os::fd::OwnedFd,
    ) -> io::Result<Self> {
        let descriptor = Descriptor::owned(runtime, descriptor, crate::runtime::Interest::Write)?;
        Ok(Self {
            sink: Sink::Descriptor(descriptor),
        })
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().sink {
            Sink::Descriptor(descriptor) => descriptor.poll_write(task, bytes),
            Sink::Thread(thread) => thread.poll_write(task, bytes),
            Sink::Closed => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().sink {
            Sink::Thread(thread) => thread.poll_flush(task),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_close(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.as_mut().poll_flush(task);
        if flushed.is_ready() {
            self.get_mut().sink = Sink::Closed;
        }
        flushed
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.mode()).finish()
    }
}
