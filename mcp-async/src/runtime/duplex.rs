//! A bounded pair of byte streams in memory: a transport for tests, and for a client and a
//! server that live in one process.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, MutexGuard};

use futures_io::{AsyncRead, AsyncWrite};

use crate::sync::{Lock, Waiter};

/// Two ends joined by two pipes of `capacity` bytes each; what one end writes the other reads.
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (left_writer, right_reader) = pipe(capacity);
    let (right_writer, left_reader) = pipe(capacity);
    (
        Duplex {
            reader: left_reader,
            writer: left_writer,
        },
        Duplex {
            reader: right_reader,
            writer: right_writer,
        },
    )
}

/// Creates a pipe for one direction: the reader receives the bytes that the writer writes, at most
/// `capacity` bytes ahead.
///
/// Dropping or closing the writer is the end of the input for the reader; dropping the reader
/// makes every write fail with [`BrokenPipe`](io::ErrorKind::BrokenPipe).
pub fn pipe(capacity: usize) -> (PipeWriter, PipeReader) {
    let pipe = Arc::new(Pipe {
        // A pipe without room could never move a byte.
        capacity: capacity.max(1),
        state: Lock::default(),
    });
    (PipeWriter(Arc::clone(&pipe)), PipeReader(pipe))
}

/// One end of a [`duplex`].
#[derive(Debug)]
pub struct Duplex {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Duplex {
    /// The two halves, as a connection wants them.
    pub fn split(self) -> (PipeReader, PipeWriter) {
        (self.reader, self.writer)
    }
}

/// The reading end of a [`pipe`].
#[derive(Debug)]
pub struct PipeReader(Arc<Pipe>);

/// The writing end of a [`pipe`].
#[derive(Debug)]
pub struct PipeWriter(Arc<Pipe>);

#[derive(Debug)]
struct Pipe {
    capacity: usize,
    state: Lock<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: VecDeque<u8>,
    writer_gone: bool,
    reader_gone: bool,
    /// The side that found nothing to do; one of each side at most.
    reader: Waiter,
    writer: Waiter,
}

impl Pipe {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn end_of_input(&self) {
        let reader = {
            let mut state = self.state();
            state.writer_gone = true;
            state.reader.take()
        };
        reader.wake();
    }
}

impl AsyncRead for PipeReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.state();
        let count = buf.len().min(state.bytes.len());
        if count == 0 && !buf.is_empty() && !state.writer_gone {
            state.reader.register(cx);
            return Poll::Pending;
        }
        let mut rest = buf.get_mut(..count).unwrap_or_default();
        while !rest.is_empty() {
            // A ring is two slices; each read takes from the first.
            let read = state.bytes.read(rest)?;
            rest = rest.get_mut(read..).unwrap_or_default();
        }
        let writer = state.writer.take();
        drop(state);
        writer.wake();
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for PipeWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.state();
        if state.reader_gone || state.writer_gone {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = self.0.capacity.saturating_sub(state.bytes.len());
        if room == 0 && !buf.is_empty() {
            state.writer.register(cx);
            return Poll::Pending;
        }
        let count = room.min(buf.len());
        state.bytes.extend(buf.get(..count).unwrap_or_default());
        let reader = state.reader.take();
        drop(state);
        reader.wake();
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.end_of_input();
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.reader).poll_read(cx, buf)
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_close(cx)
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.0.end_of_input();
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let writer = {
            let mut state = self.0.state();
            state.reader_gone = true;
            state.bytes = VecDeque::new();
            state.writer.take()
        };
        writer.wake();
    }
}

#[cfg(test)]
mod tests {
    use core::task::Waker;

    use super::*;

    fn read(reader: &mut PipeReader, len: usize) -> Poll<Result<String, io::ErrorKind>> {
        let mut buf = vec![0; len];
        Pin::new(reader)
            .poll_read(&mut Context::from_waker(Waker::noop()), &mut buf)
            .map_ok(|count| String::from_utf8_lossy(&buf[..count]).into_owned())
            .map_err(|error| error.kind())
    }

    fn write(writer: &mut PipeWriter, text: &str) -> Poll<Result<usize, io::ErrorKind>> {
        Pin::new(writer)
            .poll_write(&mut Context::from_waker(Waker::noop()), text.as_bytes())
            .map_err(|error| error.kind())
    }

    #[test]
    fn a_pipe_is_bounded_and_ends() {
        let (mut writer, mut reader) = pipe(4);
        assert_eq!(read(&mut reader, 8), Poll::Pending);
        assert_eq!(write(&mut writer, "abcdef"), Poll::Ready(Ok(4)));
        assert_eq!(write(&mut writer, "ef"), Poll::Pending);
        assert_eq!(read(&mut reader, 3), Poll::Ready(Ok("abc".into())));
        assert_eq!(write(&mut writer, "ef"), Poll::Ready(Ok(2)));
        drop(writer);
        assert_eq!(read(&mut reader, 8), Poll::Ready(Ok("def".into())));
        assert_eq!(read(&mut reader, 8), Poll::Ready(Ok(String::new())));
    }

    #[test]
    fn a_reader_that_left_breaks_the_pipe() {
        let (mut writer, reader) = pipe(4);
        drop(reader);
        assert_eq!(
            write(&mut writer, "a"),
            Poll::Ready(Err(io::ErrorKind::BrokenPipe))
        );
    }
}
