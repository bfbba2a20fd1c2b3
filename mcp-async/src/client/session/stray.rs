//! Lines of a server's standard output that are not messages.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, ready};
use std::io;
use std::sync::{Arc, MutexGuard};

use futures_io::AsyncRead;
use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::Message;

use crate::io::stdio::Input;
use crate::sync::Lock;

/// The output of a child, on its way to the connection. Until the server is known, it keeps the
/// first line that is no message.
pub(super) struct Inspected {
    output: Option<Output>,
    stray: Arc<Stray>,
}

/// The first line that is no message.
#[derive(Default)]
pub(super) struct Stray {
    line: Lock<Option<String>>,
    /// The output that a connection left unread which ended before the server was known.
    rest: Lock<Option<Output>>,
    over: AtomicBool,
}

struct Output {
    stream: Input,
    /// Invariant: at most `LINE` bytes.
    partial: Vec<u8>,
    cut: bool,
}

impl Inspected {
    pub(super) fn new(stream: Input) -> (Self, Arc<Stray>) {
        let stray = Arc::new(Stray::default());
        let inspected = Self {
            output: Some(Output {
                stream,
                partial: Vec::new(),
                cut: false,
            }),
            stray: Arc::clone(&stray),
        };
        (inspected, stray)
    }
}

impl Output {
    fn inspect(&mut self, bytes: &[u8], stray: &Stray) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LINE.saturating_sub(self.partial.len());
            self.partial.extend(text.iter().take(room));
            self.cut |= text.len() > room;
            if text.len() < piece.len() {
                if !is_message(&self.partial, self.cut) {
                    stray.keep(&self.partial);
                }
                self.partial.clear();
                self.cut = false;
            }
        }
        // A prompt has no line break.
        if !is_message(&self.partial, true) {
            stray.keep(&self.partial);
        }
    }
}

impl AsyncRead for Inspected {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let Some(output) = &mut this.output else {
            return Poll::Ready(Ok(0));
        };
        let len = ready!(Pin::new(&mut output.stream).poll_read(task, buffer))?;
        if !this.stray.over.load(Ordering::Relaxed) {
            output.inspect(buffer.get(..len).unwrap_or_default(), &this.stray);
        }
        Poll::Ready(Ok(len))
    }
}

impl Drop for Inspected {
    fn drop(&mut self) {
        if !self.stray.over.load(Ordering::Relaxed) {
            *self.stray.rest.lock() = self.output.take();
        }
    }
}

impl Stray {
    /// From now on nothing is kept.
    pub(super) fn finish(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Returns true if a line that is no message was read.
    pub(super) fn is_there(&self) -> bool {
        self.line().is_some()
    }

    /// Reads what the connection left unread, up to a line that is no message or the end. A
    /// connection whose first write failed ends without reading.
    pub(super) fn poll_rest(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut rest = self.rest.lock();
        let mut buffer = [0; 4096];
        while let Some(output) = rest.as_mut().filter(|_| !self.is_there()) {
            match ready!(Pin::new(&mut output.stream).poll_read(task, &mut buffer)) {
                Ok(len @ 1..) => output.inspect(buffer.get(..len).unwrap_or_default(), self),
                Ok(0) | Err(_) => *rest = None,
            }
        }
        Poll::Ready(())
    }

    pub(super) fn take(&self) -> Option<String> {
        self.finish();
        *self.rest.lock() = None;
        self.line().take()
    }

    fn keep(&self, line: &[u8]) {
        let end = line.len().min(QUOTED);
        let line = String::from_utf8_lossy(line.get(..end).unwrap_or_default());
        self.line()
            .get_or_insert_with(|| line.trim_end().to_owned());
    }

    fn line(&self) -> MutexGuard<'_, Option<String>> {
        self.line.lock()
    }
}

/// Returns true if a line is a message, an array of them, or blank; if only its beginning is known
/// (`cut`), true if it can become one.
fn is_message(line: &[u8], cut: bool) -> bool {
    // A byte order mark may precede the first.
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let line = line.trim_ascii();
    match line.first() {
        None => true,
        Some(b'{' | b'[') if cut => true,
        Some(b'{') => !matches!(Message::parse(line, MAX_DEPTH), Message::Invalid(_)),
        Some(b'[') => Raw::parse(line, MAX_DEPTH).is_ok(),
        Some(_) => "\u{feff}".as_bytes().starts_with(line),
    }
}

/// Longer lines are judged by their beginning.
const LINE: usize = 16 << 10;
/// The bytes of a line that an error quotes at most.
const QUOTED: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_messages() {
        let long = format!("{{\"x\":\"{}", "x".repeat(LINE));
        for (line, cut, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, false, true),
            (r#"[{"jsonrpc":"2.0","method":"x"}]"#, false, true),
            ("", false, true),
            (" \r", false, true),
            (
                "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
                false,
                true,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"res"#, true, true),
            (r#"{"jsonrpc":"2.0","id":1,"res"#, false, false),
            (r#"{"level":"info"}"#, false, false),
            ("hello", false, false),
            ("login: ", true, false),
            ("[info] ready", false, false),
            (&long, true, true),
        ] {
            assert_eq!(is_message(line.as_bytes(), cut), expected, "{line}");
        }
        assert!(is_message(b"\xef", true));
    }

    #[test]
    fn what_was_left_unread_is_inspected() {
        let output = Input::from_reader(&b"usage: server\n"[..]).unwrap();
        let (inspected, stray) = Inspected::new(output);
        drop(inspected);
        let task = &mut Context::from_waker(core::task::Waker::noop());
        while stray.poll_rest(task).is_pending() {
            std::thread::yield_now();
        }
        assert_eq!(stray.take().as_deref(), Some("usage: server"));
    }
}
