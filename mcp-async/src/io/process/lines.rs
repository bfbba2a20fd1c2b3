use core::fmt;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Splits what a child writes to its standard error into lines, in bounded memory.
///
/// A line longer than the limit is cut there and its rest skipped. The last lines are kept for
/// the report of an early exit; each line can also be passed to a function.
pub(super) struct Lines {
    /// Invariant: at most `limit` bytes.
    partial: Vec<u8>,
    limit: usize,
    /// Invariant: at most `keep` lines.
    kept: VecDeque<String>,
    keep: usize,
    sink: Option<Sink>,
}

/// Gets each line.
pub(super) type Sink = Arc<dyn Fn(&str) + Send + Sync>;

impl Lines {
    /// Cuts lines after `limit` bytes, keeps the last `keep` of them, and hands each to `sink`,
    /// without its line break and with U+FFFD where it is no UTF-8 (ST-05).
    pub(super) fn new(limit: usize, keep: usize, sink: Option<Sink>) -> Self {
        Self {
            partial: Vec::new(),
            limit,
            kept: VecDeque::new(),
            keep,
            sink,
        }
    }

    /// Takes the next bytes, cut anywhere.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = self.limit.saturating_sub(self.partial.len());
            self.partial.extend(text.iter().take(room));
            if text.len() < piece.len() {
                self.end_line();
            }
        }
    }

    /// Takes the end: a last line without a line break counts.
    pub(super) fn finish(&mut self) {
        if !self.partial.is_empty() {
            self.end_line();
        }
    }

    /// The last lines, oldest first.
    pub(super) fn kept(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(String::as_str)
    }

    fn end_line(&mut self) {
        let text = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        let text = String::from_utf8_lossy(text);
        if let Some(sink) = &self.sink {
            sink(&text);
        }
        if self.keep > 0 {
            if self.kept.len() == self.keep {
                self.kept.pop_front();
            }
            self.kept.push_back(Cow::into_owned(text));
        }
        self.partial.clear();
    }
}

/// What a child writes may be a secret: sizes only.
impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("partial", &self.partial.len())
            .field("kept", &self.kept.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        check(b"", &[]);
        check(b"\n", &[""]);
        check(b"one", &["one"]);
        check(b"one\n", &["one"]);
        check(b"one\r\ntwo", &["one", "two"]);
        check(b"12345678\n", &["12345678"]);
        check(b"123456789\n1\n", &["12345678", "1"]);
        check(b"123456789", &["12345678"]);
        check(b"\xff\n", &["\u{fffd}"]);
        check(b"1\n2\n3\n4\n", &["1", "2", "3", "4"]);
    }

    fn check(bytes: &[u8], expected: &[&str]) {
        for size in [1, 2, 3, bytes.len().max(1)] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&seen);
            let sink = move |line: &str| sink.lock().unwrap().push(line.to_owned());
            let mut lines = Lines::new(8, 3, Some(Arc::new(sink)));
            for chunk in bytes.chunks(size) {
                lines.push(chunk);
                assert!(lines.partial.len() <= 8);
            }
            lines.finish();
            assert_eq!(*seen.lock().unwrap(), expected, "in chunks of {size}");
            let last = expected.get(expected.len().saturating_sub(3)..).unwrap();
            assert_eq!(lines.kept().collect::<Vec<_>>(), last);
        }
    }
}
