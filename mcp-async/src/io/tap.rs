//! Shows the lines of a stream.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

use super::lines::Lines;

/// A byte stream that shows each line that passes through it, in either direction.
///
/// Around both halves of a connection it prints the conversation:
///
/// ```
/// use mcp_async::runtime::duplex;
/// use mcp_async::Tap;
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
    lines: Lines,
}

impl<T, F: Fn(&str)> Tap<T, F> {
    /// Shows the lines of this stream to `show`, without their ends; a line that is not UTF-8 is shown
    /// with U+FFFD. Of a line of more than 1 MiB the beginning is shown, and how many bytes are left
    /// out: no more is kept of a line that never ends.
    pub const fn new(stream: T, show: F) -> Self {
        Self {
            stream,
            show,
            lines: Lines::new(LONGEST),
        }
    }

    fn passed(&mut self, bytes: &[u8]) {
        let show = &self.show;
        self.lines.push(bytes, |line, skipped| match skipped {
            0 => show(line),
            skipped => show(&format!("{line}... ({skipped} bytes more)")),
        });
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

/// The bytes of a line that are kept.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use core::cell::RefCell;
    use core::task::Waker;

    use super::*;

    #[test]
    fn long_lines_are_cut() {
        let shown = RefCell::new(Vec::new());
        let mut tap = Tap::new(Vec::new(), |line: &str| {
            shown.borrow_mut().push(line.to_owned());
        });
        let mut write = |bytes: &[u8]| {
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut tap).poll_write(cx, bytes).is_ready());
            assert!(tap.lines.len() <= LONGEST);
        };
        (0..1 << 11).for_each(|_| write(&[b'a'; 1 << 10]));
        write(b"b\nc\nd");
        let cut = format!("{}... (1048577 bytes more)", "a".repeat(LONGEST));
        assert_eq!(*shown.borrow(), [&*cut, "c"]);
    }
}
