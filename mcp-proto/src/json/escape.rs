//! Decodes the content of a JSON string step by step.

/// A step through the content of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// UTF-8 that stands for itself; never empty.
    Run(&'b [u8]),
    /// An escape, or both halves of a surrogate pair. Half a pair is a value from 0xD800 to
    /// 0xDFFF.
    Escape(u32),
}

/// The pieces of the content of a string that a scanner has accepted.
#[derive(Clone, Debug)]
pub(super) struct Pieces<'b> {
    rest: &'b [u8],
}

impl<'b> Pieces<'b> {
    pub(super) const fn new(content: &'b [u8]) -> Self {
        Self { rest: content }
    }

    /// Returns the bytes that were not decoded yet.
    #[cfg(feature = "serde-json-core")]
    pub(super) const fn rest(&self) -> &'b [u8] {
        self.rest
    }
}

impl<'b> Iterator for Pieces<'b> {
    type Item = Piece<'b>;

    #[inline]
    fn next(&mut self) -> Option<Piece<'b>> {
        let Some((b'\\', escape)) = self.rest.split_first() else {
            if self.rest.is_empty() {
                return None;
            }
            let end = memchr::memchr(b'\\', self.rest).unwrap_or(self.rest.len());
            let (run, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest;
            return Some(Piece::Run(run));
        };
        let (&letter, rest) = escape.split_first()?;
        self.rest = rest;
        Some(Piece::Escape(match letter {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => 0x0A,
            b'r' => 0x0D,
            b't' => 0x09,
            b'u' => {
                let (first, rest) = unit(rest)?;
                self.rest = rest;
                if let (0xD800..=0xDBFF, [b'\\', b'u', behind @ ..]) = (first, rest)
                    && let Some((second @ 0xDC00..=0xDFFF, rest)) = unit(behind)
                {
                    self.rest = rest;
                    0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                } else {
                    first
                }
            }
            // `"`, `\` and `/` stand for themselves.
            other => u32::from(other),
        }))
    }
}

/// The value of four digits, and what follows them.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<4>()?;
    let mut value = 0;
    for &digit in digits {
        // The scanner has seen to it that these are digits: letters have bit 0x40.
        let digit = (digit & 0x0F) + if digit & 0x40 == 0 { 0 } else { 9 };
        value = (value << 4) | u32::from(digit);
    }
    Some((value, rest))
}

/// The character of an escape.
#[inline]
pub(super) fn lossy(value: u32) -> char {
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Encodes an escape as UTF-8 would, halves of surrogate pairs too (that is WTF-8), and returns
/// how many of the bytes count. No UTF-8 text contains the bytes of half a pair, and two halves
/// never stand side by side, so equal bytes mean equal strings.
#[inline]
pub(super) const fn generalized(value: u32) -> ([u8; 4], usize) {
    let last = 0x80 | (value & 0x3F) as u8;
    let third = 0x80 | (value >> 6 & 0x3F) as u8;
    match value {
        0..=0x7F => ([value as u8, 0, 0, 0], 1),
        0x80..=0x7FF => ([0xC0 | (value >> 6) as u8, last, 0, 0], 2),
        0x800..=0xFFFF => ([0xE0 | (value >> 12) as u8, third, last, 0], 3),
        _ => {
            let second = 0x80 | (value >> 12 & 0x3F) as u8;
            ([0xF0 | (value >> 18 & 0x07) as u8, second, third, last], 4)
        }
    }
}
