//! Lines: one message per line (ST-02), on standard streams, pipes and sockets.
//!
//! [`Lines`] finds the ends of lines in bytes that arrive; [`narrow`] and [`end`] write a line.

use memchr::memchr;

/// Finds lines in bytes that arrive piece by piece.
///
/// The bytes stay with the caller: a buffer that begins where the line before ended and becomes
/// longer. The position of the search is kept, so no byte is searched twice, however finely the
/// stream was cut.
///
/// ```
/// use mcp_proto::frame::line::Lines;
///
/// let mut lines = Lines::new();
/// assert_eq!(lines.find(b"{\"a\""), None);
/// assert_eq!(lines.find(b"{\"a\":1}\r\n{"), Some(8));
/// assert_eq!(lines.text(b"{\"a\":1}\r"), b"{\"a\":1}");
/// lines.advance();
/// assert_eq!(lines.find(b"{"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The number of bytes of the current line that were searched: all of it, or those up to its
    /// newline.
    searched: usize,
    /// True if the first line of the stream is over.
    begun: bool,
}

impl Lines {
    /// At the start of a stream.
    pub const fn new() -> Self {
        Self {
            searched: 0,
            begun: false,
        }
    }

    /// The offset of the newline that ends the current line; `None` if it has not arrived.
    #[inline]
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let fresh = bytes.get(self.searched..)?;
        let found = if fresh.len() < SHORT {
            fresh.iter().position(|byte| *byte == b'\n')
        } else {
            memchr(b'\n', fresh)
        };
        self.searched = match found {
            Some(offset) => self.searched + offset,
            None => bytes.len(),
        };
        found.map(|_| self.searched)
    }

    /// Returns the text of a line: the bytes before its newline, without the carriage return of a
    /// CRLF and, in the first line of the stream, without a byte order mark.
    #[inline]
    pub fn text<'b>(&self, line: &'b [u8]) -> &'b [u8] {
        let line = match line {
            [text @ .., b'\r'] => text,
            text => text,
        };
        self.without_mark(line)
    }

    /// Returns a line, or the first piece of it, without a byte order mark at the start of the
    /// stream.
    #[inline]
    pub(crate) fn without_mark<'b>(&self, line: &'b [u8]) -> &'b [u8] {
        match line {
            [0xEF, 0xBB, 0xBF, text @ ..] if !self.begun => text,
            text => text,
        }
    }

    /// Returns the position of the search plus one for the newline: the length of a line that was
    /// found, of `held` bytes at most.
    #[inline]
    pub(crate) fn line_len(&self, held: usize) -> usize {
        self.searched.saturating_add(1).min(held)
    }

    /// Begins the next line: the caller's buffer starts behind the newline now.
    #[inline]
    pub fn advance(&mut self) {
        self.searched = 0;
        self.begun = true;
    }
}

/// The number of bytes below which a loop takes less time than a call of `memchr`.
const SHORT: usize = 8;

/// The most bytes that a line is longer than its text: byte order mark, CR and LF.
pub(crate) const OVERHEAD: usize = 5;

/// Returns true if a line has only white space; such lines are skipped (ST-21).
#[inline]
pub fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The part of `out` that a message may take, so that its newline has room behind it; `None` if
/// there is no room for any. [`end`] writes the newline.
///
/// ```
/// use mcp_proto::frame::line;
///
/// let mut out = [0; 8];
/// let message = line::narrow(&mut out).ok_or("too small")?;
/// message[..2].copy_from_slice(b"{}");
/// assert_eq!(line::end(&mut out, 2), 3);
/// assert_eq!(&out[..3], b"{}\n");
/// # Ok::<(), &str>(())
/// ```
#[inline]
pub fn narrow(out: &mut [u8]) -> Option<&mut [u8]> {
    match out {
        [message @ .., _] => Some(message),
        [] => None,
    }
}

/// Writes the newline behind a message of `len` bytes and returns the length of the line.
#[inline]
pub fn end(out: &mut [u8], len: usize) -> usize {
    match out.get_mut(len) {
        Some(newline) => {
            *newline = b'\n';
            len + 1
        }
        None => len,
    }
}
