//! Bytes in a slice, which counts those that do not fit.

use crate::action::BufferFull;

/// Writes what fits into a slice, and counts all of it.
pub(crate) struct SliceWriter<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl<'o> SliceWriter<'o> {
    pub(crate) const fn new(out: &'o mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(place) = self.out.get_mut(self.len..end) {
            place.copy_from_slice(bytes);
        }
        self.len = end;
    }

    pub(crate) fn extend(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            if let Some(place) = self.out.get_mut(self.len) {
                *place = byte;
            }
            self.len = self.len.saturating_add(1);
        }
    }

    /// Returns the slice, and the number of bytes that were written or counted.
    pub(crate) const fn into_parts(self) -> (&'o mut [u8], usize) {
        (self.out, self.len)
    }

    /// Returns the number of bytes that were written.
    ///
    /// # Errors
    /// [`BufferFull`] if some did not fit.
    pub(crate) const fn finish(self) -> Result<usize, BufferFull> {
        if self.len > self.out.len() {
            return Err(BufferFull { needed: self.len });
        }
        Ok(self.len)
    }
}

/// Returns the digits of a number.
pub(crate) fn decimal_digits(value: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut rest = value;
    let mut start = buffer.len();
    for slot in buffer.iter_mut().rev() {
        let (tenth, digit) = tenth(rest);
        *slot = b'0' + digit;
        rest = tenth;
        start -= 1;
        if rest == 0 {
            break;
        }
    }
    buffer.get(start..).unwrap_or_default()
}

/// Returns a tenth of the value, and the remainder. On targets with words of 32 bits, a division
/// of 64 bits is a function of its own, larger than all that is written with it.
#[inline]
fn tenth(value: u64) -> (u64, u8) {
    if let Ok(word) = u32::try_from(value) {
        return ((word / 10).into(), (word % 10) as u8);
    }
    let mut quotient = 0;
    let mut rest = 0;
    for shift in [48, 32, 16, 0] {
        let digit = rest << 16 | (value >> shift) as u32 & 0xFFFF;
        quotient = quotient << 16 | u64::from(digit / 10);
        rest = digit % 10;
    }
    (quotient, rest as u8)
}
