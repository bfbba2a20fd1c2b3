//! The wire, made visible.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

use super::plain::escaped;
use super::screen::Screen;

/// A stream that shows each line that passes.
#[derive(Debug)]
pub(crate) struct Tap<T> {
    stream: T,
    screen: Screen,
    speaker: String,
    line: Vec<u8>,
}

impl<T> Tap<T> {
    pub(crate) const fn new(stream: T, screen: Screen, speaker: String) -> Self {
        Self {
            stream,
            screen,
            speaker,
            line: Vec::new(),
        }
    }

    fn passed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = bytes.split_at(end);
            self.line.extend_from_slice(head);
            bytes = tail.get(1..).unwrap_or_default();
            let line = String::from_utf8_lossy(&self.line);
            self.screen
                .say(format!("{} {}", self.speaker, escaped(&line)));
            self.line.clear();
        }
        self.line.extend_from_slice(bytes);
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Tap<T> {
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

impl<T: AsyncWrite + Unpin> AsyncWrite for Tap<T> {
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
