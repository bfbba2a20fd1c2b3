//! Lines of a server's standard output that are no messages.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, ready};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_io::AsyncRead;
use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::Message;

use crate::stdio::Input;

/// The output of a child, on its way to the connection. Until the server is known, it keeps the
/// first line that is no message.
pub(super) struct Inspected {
    stream: Input,
    stray: Arc<Stray>,
    /// Invariant: at most `LINE` bytes.
    partial: Vec<u8>,
    cut: bool,
}

/// The first line that is no message.
#[derive(Default)]
pub(super) struct Stray {
    line: Mutex<Option<String>>,
    over: AtomicBool,
}

impl Inspected {
    pub(super) fn new(stream: Input) -> (Self, Arc<Stray>) {
        let stray = Arc::new(Stray::default());
        let inspected = Self {
            stream,
            stray: Arc::clone(&stray),
            partial: Vec::new(),
            cut: false,
        };
        (inspected, stray)
    }

    fn inspect(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LINE.saturating_sub(self.partial.len());
            self.partial.extend(text.iter().take(room));
            self.cut |= text.len() > room;
            if text.len() < piece.len() {
                if !is_message(&self.partial, self.cut) {
                    self.stray.keep(&self.partial);
                }
                self.partial.clear();
                self.cut = false;
            }
        }
        // A prompt has no line break.
        if !is_message(&self.partial, true) {
            self.stray.keep(&self.partial);
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
        let len = ready!(Pin::new(&mut this.stream).poll_read(task, buffer))?;
        if !this.stray.over.load(Ordering::Relaxed) {
            this.inspect(buffer.get(..len).unwrap_or_default());
        }
        Poll::Ready(Ok(len))
    }
}

impl Stray {
    /// From now on nothing is kept.
    pub(super) fn finish(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Whether there is such a line.
    pub(super) fn is_there(&self) -> bool {
        self.line().is_some()
    }

    pub(super) fn take(&self) -> Option<String> {
        self.finish();
        self.line().take()
    }

    fn keep(&self, line: &[u8]) {
        let end = line.len().min(QUOTED);
        let line = String::from_utf8_lossy(line.get(..end).unwrap_or_default());
        self.line()
            .get_or_insert_with(|| line.trim_end().to_owned());
    }

    fn line(&self) -> MutexGuard<'_, Option<String>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a line is a message, an array of them, or blank; of the beginning of a line, whether it
/// can become one.
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
/// How much of a line an error quotes.
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
}
