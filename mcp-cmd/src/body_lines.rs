//! The lines of a body that arrives in parts.

/// Collects the last line of a body, up to [`LONGEST`] bytes of it.
#[derive(Debug, Default)]
pub(crate) struct BodyLines {
    line: Vec<u8>,
    /// The bytes of the line that are not kept.
    skipped: usize,
}

impl BodyLines {
    /// Adds a part, and shows the lines that end in it. Each byte is read once.
    pub(crate) fn push(&mut self, data: &[u8], mut show: impl FnMut(&str)) {
        for piece in data.split_inclusive(is_break) {
            let room = LONGEST.saturating_sub(self.line.len());
            let kept = piece.get(..room).unwrap_or(piece);
            self.line.extend_from_slice(kept);
            self.skipped += piece.len() - kept.len();
            if piece.last().is_some_and(is_break) {
                self.end(&mut show);
            }
        }
    }

    /// Shows the line as it is, unless it is empty. The next part begins another.
    pub(crate) fn end(&mut self, show: impl FnOnce(&str)) {
        let skipped = core::mem::take(&mut self.skipped);
        let line = String::from_utf8_lossy(&self.line);
        match line.trim_end() {
            line if skipped > 0 => show(&format!("{line}... ({skipped} bytes more)")),
            "" => {}
            line => show(line),
        }
        self.line.clear();
    }
}

/// SSE allows each of both alone; the second of a pair ends an empty line.
const fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The bytes of a line that are shown.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut shown) = (BodyLines::default(), Vec::new());
        for part in parts {
            lines.push(part, |line| shown.push(line.to_owned()));
            assert!(lines.line.len() <= LONGEST);
        }
        lines.end(|line| shown.push(line.to_owned()));
        shown
    }

    #[test]
    fn lines_are_whole() {
        let check = |parts: &[&str], expected: &[&str]| {
            let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
            assert_eq!(lines(&parts), expected, "{parts:?}");
        };
        check(&[], &[]);
        check(&["a"], &["a"]);
        check(&["a", "b\nc", "", "d\n"], &["ab", "cd"]);
        check(&["a\r", "\n\r\n \rb\n\n"], &["a", "b"]);
        assert_eq!(lines(&["é".as_bytes(), b"\xc3", b"\xa9\n"]), ["éé"]);
    }

    #[test]
    fn long_lines_are_cut() {
        let part = [b'a'; 1 << 10];
        let mut parts = vec![&part[..]; 1 << 11];
        parts.push(b"b\nc");
        let cut = format!("{}... (1048578 bytes more)", "a".repeat(LONGEST));
        assert_eq!(lines(&parts), [&*cut, "c"]);
    }
}
