//! Transports that carry whole messages, such as a WebSocket or a message queue.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

/// Receives whole messages: one direction of a custom transport, such as a WebSocket or a message
/// queue. [`MessageSink`] is the other direction.
///
/// A carrier of bytes (TCP, Unix sockets, TLS, a serial line) needs neither trait: a pair of
/// [`AsyncRead`] and [`AsyncWrite`] is a transport already, with one message in each line. Implement
/// the traits for a carrier that frames messages itself.
///
/// - **Connecting**: the transport connects by its own means. [`MessageReader`] and
///   [`MessageWriter`] then adapt its two directions to a pair of byte streams, which `Streams` makes
///   a transport of a server or a connector of a client, and the handshake or the discovery follows
///   as on a pipe.
/// - **Framing**: each carried message is one JSON-RPC message in UTF-8, or one array of messages in
///   2025-03-26.
/// - **Cancelling**: a request is cancelled by `notifications/cancelled`, and a subscription is ended
///   by it. A transport needs no means of its own for that.
/// - **Closing**: the end of this direction ends the connection. A client's open requests fail then,
///   and a server's handlers have its shutdown timeout to finish. The connection calls
///   [`MessageSink::poll_close`] after its last message.
///
/// ```
/// use core::task::{Context, Poll};
/// use std::io;
/// use std::sync::mpsc::{Receiver, TryRecvError};
///
/// use mcp_async::{MessageReader, MessageSource};
///
/// struct Frames(Receiver<Vec<u8>>);
///
/// impl MessageSource for Frames {
///     fn poll_receive(
///         &mut self,
///         cx: &mut Context<'_>,
///         into: &mut Vec<u8>,
///     ) -> Poll<io::Result<bool>> {
///         match self.0.try_recv() {
///             Ok(frame) => into.extend(frame),
///             Err(TryRecvError::Disconnected) => return Poll::Ready(Ok(false)),
///             Err(TryRecvError::Empty) => {
///                 // A real carrier wakes the task when the next message is there.
///                 cx.waker().wake_by_ref();
///                 return Poll::Pending;
///             }
///         }
///         Poll::Ready(Ok(true))
///     }
/// }
///
/// let (_carrier, frames) = std::sync::mpsc::channel();
/// let reader = MessageReader::new(Frames(frames));
/// # let _ = reader;
/// ```
pub trait MessageSource {
    /// Appends the next message to `into`, or says `false` at the end of the input.
    ///
    /// Bound the size in the carrier, too: `into` holds the whole message before a limit of
    /// the connection can see it.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<bool>>;
}

/// Sends whole messages: the direction of a custom transport that [`MessageSource`] does not have.
///
/// See there for connecting, framing and cancelling.
pub trait MessageSink {
    /// Takes the message, whole or (`Pending`, or an error) not at all.
    fn poll_send(&mut self, cx: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<()>>;

    /// Ready when everything taken has left. By default at once.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }

    /// Tells the peer that nothing more comes. By default nothing is told.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }
}

/// Adapts a [`MessageSource`] to a byte stream.
#[derive(Debug)]
pub struct MessageReader<T> {
    source: T,
    line: Vec<u8>,
    /// Number of bytes of `line` that were read already: `read <= line.len()`.
    read: usize,
}

impl<T: MessageSource> MessageReader<T> {
    /// Reads lines made of the source's messages.
    pub const fn new(source: T) -> Self {
        Self {
            source,
            line: Vec::new(),
            read: 0,
        }
    }
}

impl<T: MessageSource + Unpin> AsyncRead for MessageReader<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.read == this.line.len() {
            this.line.clear();
            this.read = 0;
            if !ready!(this.source.poll_receive(cx, &mut this.line))? {
                this.line.clear();
                return Poll::Ready(Ok(0));
            }
            // A line break inside a message must not end the line. As a carriage return it is
            // white space between tokens, as before, and inside a string an error, as before.
            this.line
                .iter_mut()
                .filter(|byte| **byte == b'\n')
                .for_each(|byte| *byte = b'\r');
            this.line.push(b'\n');
            shrink(&mut this.line);
        }
        let rest = this.line.get(this.read..).unwrap_or_default();
        let count = rest.len().min(buf.len());
        for (to, from) in buf.iter_mut().zip(rest) {
            *to = *from;
        }
        this.read += count;
        Poll::Ready(Ok(count))
    }
}

/// Adapts a [`MessageSink`] to a byte stream.
#[derive(Debug)]
pub struct MessageWriter<T> {
    sink: T,
    line: Vec<u8>,
    /// True if `line` is a whole message that the sink has not taken yet.
    whole: bool,
}

impl<T: MessageSink> MessageWriter<T> {
    /// Sends every line as a message of the sink, without its line break.
    pub const fn new(sink: T) -> Self {
        Self {
            sink,
            line: Vec::new(),
            whole: false,
        }
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.whole {
            ready!(self.sink.poll_send(cx, &self.line))?;
            self.line.clear();
            shrink(&mut self.line);
            self.whole = false;
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: MessageSink + Unpin> AsyncWrite for MessageWriter<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_line(cx))?;
        let (line, rest) = match buf.iter().position(|byte| *byte == b'\n') {
            Some(end) => (buf.get(..end).unwrap_or_default(), 1),
            None => (buf, 0),
        };
        this.line.extend_from_slice(line);
        this.whole = rest == 1;
        Poll::Ready(Ok(line.len() + rest))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_line(cx))?;
        this.sink.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_line(cx))?;
        this.sink.poll_close(cx)
    }
}

/// Gives back what one huge message took.
fn shrink(line: &mut Vec<u8>) {
    if line.capacity() > KEPT && line.len() <= KEPT {
        line.shrink_to(KEPT);
    }
}

/// The capacity that a line buffer keeps between messages: most messages fit, an idle connection is
/// small.
const KEPT: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use core::task::Waker;

    struct Queue(Vec<&'static str>);

    impl MessageSource for Queue {
        fn poll_receive(
            &mut self,
            _: &mut Context<'_>,
            into: &mut Vec<u8>,
        ) -> Poll<io::Result<bool>> {
            if self.0.is_empty() {
                return Poll::Ready(Ok(false));
            }
            into.extend_from_slice(self.0.remove(0).as_bytes());
            Poll::Ready(Ok(true))
        }
    }

    impl MessageSink for Vec<String> {
        fn poll_send(&mut self, _: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<()>> {
            self.push(String::from_utf8_lossy(message).into_owned());
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn messages_become_lines() {
        for size in 1..12 {
            let mut reader = MessageReader::new(Queue(vec!["{\n}", "", "[1]"]));
            let mut text = Vec::new();
            let cx = &mut Context::from_waker(Waker::noop());
            loop {
                let mut buf = vec![0; size];
                match Pin::new(&mut reader).poll_read(cx, &mut buf) {
                    Poll::Ready(Ok(0)) => break,
                    Poll::Ready(Ok(count)) => text.extend_from_slice(&buf[..count]),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(text, b"{\r}\n\n[1]\n");
        }
    }

    #[test]
    fn lines_become_messages() {
        for size in 1..12 {
            let mut writer = MessageWriter::new(Vec::<String>::new());
            let cx = &mut Context::from_waker(Waker::noop());
            for mut chunk in b"{\"a\":1}\n[2]\n".chunks(size) {
                while !chunk.is_empty() {
                    match Pin::new(&mut writer).poll_write(cx, chunk) {
                        Poll::Ready(Ok(count)) => chunk = &chunk[count..],
                        other => panic!("{other:?}"),
                    }
                }
            }
            assert!(Pin::new(&mut writer).poll_flush(cx).is_ready());
            assert_eq!(writer.sink, ["{\"a\":1}", "[2]"]);
        }
    }
}
