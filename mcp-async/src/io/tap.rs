//! Shows the lines of a stream.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

/// A byte stream that shows each line that passes through it, in either direction.
///
/// Around both halves of a connection it prints the conversation:
///
/// ```
/// use mcp_async::{Tap, duplex};
///
/// let (left, right) = duplex(4096);
/// let (reader, writer) = left.split();
/// let wire = (
///     Tap::new(reader, |line| eprintln!("server: {line}")),
///     Tap::new(writer, |line| eprintln!("client: {line}")),
/// );
/// # let _ = (wire, right);
/// ```
pub struct Tap<T, F> {
    stream: T,
    show: F,
    line: Vec<u8>,
}

impl<T, F: Fn(&str)> Tap<T, F> {
    /// Shows the lines of this stream to `show`, without their ends; a line that is not UTF-8 is shown
    /// with U+FFFD.
    pub const fn new(stream: T, show: F) -> Self {
        Self {
            stream,
            show,
            line: Vec::new(),
        }
    }

    fn passed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = bytes.split_at(end);
            self.line.extend_from_slice(head);
            bytes = tail.get(1..).unwrap_or_default();
            (self.show)(&String::from_utf8_lossy(&self.line));
            self.line.clear();
        }
        self.line.extend_from_slice(bytes);
    }
}

impl<T: AsyncRead + Unpin, F: Fn(&str) + Unpin> AsyncRead for Tap<T, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let read = Pin::new(&mut self.stream).poll_read(task, buffer);
        if let Poll::Ready(Ok(len)) = read {
            self.passed(buffer.get(..len).unwrap_or_default());
        }
        read
    }
}

impl<T: AsyncWrite + Unpin, F: Fn(&str) + Unpin> AsyncWrite for Tap<T, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(task, bytes);
        if let Poll::Ready(Ok(len)) = written {
            self.passed(bytes.get(..len).unwrap_or_default());
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_close(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(task)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for Tap<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}
