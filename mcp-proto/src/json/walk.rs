//! Walking text that a scanner has accepted: nothing is checked again.

use super::text::{Form, closing_quote};
use super::{Raw, Str};

/// The inside of a container, step by step. On text that no scanner has seen it ends early,
/// which no view over checked text can observe.
#[derive(Clone, Debug)]
pub(super) struct Walk<'b> {
    bytes: &'b [u8],
    at: usize,
    form: Form,
}

impl<'b> Walk<'b> {
    /// Begins behind the opening bracket of `container`.
    #[inline]
    pub(super) const fn inside(container: &'b [u8], form: Form) -> Self {
        Self {
            bytes: container,
            at: 1,
            form,
        }
    }

    /// The next string and its colon, as a key.
    #[inline]
    pub(super) fn key(&mut self) -> Option<Str<'b>> {
        let start = self.token()?;
        if self.bytes.get(start) != Some(&b'"') {
            return None;
        }
        let end = closing_quote(self.bytes, start + 1)?;
        self.at = end + 1;
        Some(Str::at_most(self.bytes.get(start + 1..end)?, self.form))
    }

    /// The next value.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Raw<'b>> {
        let start = self.token()?;
        self.at = match self.bytes.get(start)? {
            b'"' => closing_quote(self.bytes, start + 1)? + 1,
            b'{' | b'[' => self.container_end(start)?,
            b'}' | b']' => return None,
            _ => self.scalar_end(start),
        };
        Some(Raw::scanned(self.bytes.get(start..self.at)?, self.form))
    }

    /// The offset of the next byte that is no whitespace and no separator.
    #[inline]
    fn token(&mut self) -> Option<usize> {
        while let b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' = self.bytes.get(self.at)? {
            self.at += 1;
        }
        Some(self.at)
    }

    #[inline]
    fn scalar_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') = self.bytes.get(at) {
            at += 1;
        }
        at
    }

    /// The offset behind the container that opens at `start`. Brackets match in checked text,
    /// so counting them is enough.
    fn container_end(&self, start: usize) -> Option<usize> {
        let mut open: u32 = 0;
        let mut at = start;
        loop {
            match self.bytes.get(at)? {
                b'"' => at = closing_quote(self.bytes, at + 1)?,
                b'{' | b'[' => open = open.saturating_add(1),
                b'}' | b']' => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}
