use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::io::lines::Lines;

/// Takes what a child writes to its standard error, in bounded memory.
///
/// The last lines are kept for the report of an early exit; each line can also be passed to a
/// function.
pub(super) struct Stderr {
    lines: Lines,
    /// Invariant: at most `keep` lines.
    kept: VecDeque<String>,
    keep: usize,
    sink: Option<Sink>,
}

/// Gets each line.
pub(super) type Sink = Arc<dyn Fn(&str) + Send + Sync>;

impl Stderr {
    /// Cuts lines after `limit` bytes, keeps the last `keep` of them, and hands each to `sink` (ST-05).
    pub(super) fn new(limit: usize, keep: usize, sink: Option<Sink>) -> Self {
        Self {
            lines: Lines::new(limit),
            kept: VecDeque::new(),
            keep,
            sink,
        }
    }

    /// Takes the next bytes, cut anywhere.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Self {
            lines,
            kept,
            keep,
            sink,
        } = self;
        lines.push(bytes, |line, _| take(line, kept, *keep, sink.as_ref()));
    }

    /// Takes the end: a last line without a line break counts.
    pub(super) fn finish(&mut self) {
        let Self {
            lines,
            kept,
            keep,
            sink,
        } = self;
        lines.finish(|line, _| take(line, kept, *keep, sink.as_ref()));
    }

    /// The last lines, oldest first.
    pub(super) fn kept(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(String::as_str)
    }
}

fn take(line: &str, kept: &mut VecDeque<String>, keep: usize, sink: Option<&Sink>) {
    if let Some(sink) = sink {
        sink(line);
    }
    if keep > 0 {
        if kept.len() == keep {
            kept.pop_front();
        }
        kept.push_back(line.to_owned());
    }
}

/// Shows sizes only: the output of a child may be a secret.
impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stderr")
            .field("line", &self.lines.len())
            .field("kept", &self.kept.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::sync::Lock;

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
            let seen = Arc::new(Lock::new(Vec::new()));
            let sink = Arc::clone(&seen);
            let sink = move |line: &str| sink.lock().push(line.to_owned());
            let mut lines = Stderr::new(8, 3, Some(Arc::new(sink)));
            for chunk in bytes.chunks(size) {
                lines.push(chunk);
                assert!(lines.lines.len() <= 8);
            }
            lines.finish();
            assert_eq!(*seen.lock(), expected, "in chunks of {size}");
            let last = expected.get(expected.len().saturating_sub(3)..).unwrap();
            assert_eq!(lines.kept().collect::<Vec<_>>(), last);
        }
    }
}
