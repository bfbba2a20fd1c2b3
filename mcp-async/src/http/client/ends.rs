//! The two ends of the pipe that the connection takes the exchanges for.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::sync::Arc;

use futures_io::AsyncRead;

use super::link::Link;
use crate::io::MessageSink;

/// What the server says, in any exchange, as lines.
pub(super) struct Source {
    link: Arc<Link>,
    line: Vec<u8>,
    /// How much of the line was read: `read <= line.len()`.
    read: usize,
}

/// Where each message begins its exchange.
pub(super) struct Sink(pub(super) Arc<Link>);

impl Source {
    pub(super) const fn new(link: Arc<Link>) -> Self {
        Self {
            link,
            line: Vec::new(),
            read: 0,
        }
    }
}

impl AsyncRead for Source {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.read == this.line.len() {
            let Some(line) = ready!(this.link.poll_line(cx)) else {
                return Poll::Ready(Ok(0));
            };
            (this.line, this.read) = (line, 0);
        }
        let rest = this.line.get(this.read..).unwrap_or_default();
        let count = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        this.read += count;
        Poll::Ready(Ok(count))
    }
}

impl MessageSink for Sink {
    fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<()>> {
        self.0.poll_send(cx, message).map(Ok)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_close(cx).map(Ok)
    }
}
