//! Lines of a byte stream, in bounded memory.

/// Splits bytes into lines. The rest of a line that is longer than a limit is skipped.
pub(crate) struct Lines {
    /// Invariant: at most `limit` bytes.
    line: Vec<u8>,
    limit: usize,
    /// The bytes of the line that were skipped.
    skipped: usize,
}

impl Lines {
    /// Keeps at most `limit` bytes of a line.
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            limit,
            skipped: 0,
        }
    }

    /// Takes the next bytes, cut anywhere. `show` gets each line that ends in them, without its line
    /// break and with U+FFFD where it is no UTF-8, and the number of its bytes that were skipped.
    pub(crate) fn push(&mut self, bytes: &[u8], mut show: impl FnMut(&str, usize)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = self.limit.saturating_sub(self.line.len());
            let kept = text.get(..room).unwrap_or(text);
            self.line.extend_from_slice(kept);
            self.skipped += text.len() - kept.len();
            if text.len() < piece.len() {
                self.end(&mut show);
            }
        }
    }

    /// Takes the end: a last line without a line break counts.
    pub(crate) fn finish(&mut self, mut show: impl FnMut(&str, usize)) {
        if !self.line.is_empty() {
            self.end(&mut show);
        }
    }

    /// The number of bytes of the line that has not ended: at most the limit.
    pub(crate) const fn len(&self) -> usize {
        self.line.len()
    }

    fn end(&mut self, show: &mut impl FnMut(&str, usize)) {
        let text = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        show(&String::from_utf8_lossy(text), self.skipped);
        self.line.clear();
        self.skipped = 0;
    }
}
