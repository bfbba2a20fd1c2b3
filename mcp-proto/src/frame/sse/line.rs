//! The lines of an event stream.

use core::time::Duration;

use memchr::memchr2;

/// The fields that mean something, and the two kinds of lines that mean nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Name {
    Data,
    Id,
    Event,
    Retry,
    /// A field without a name.
    Comment,
    Unknown,
}

/// Returns the length of the first line, of which `searched` bytes were searched before.
#[inline]
pub(super) fn line_end(rest: &[u8], searched: usize) -> Option<usize> {
    let fresh = rest.get(searched..)?;
    let found = match fresh.len() {
        // A piece of a line, as it arrives byte by byte.
        ..8 => fresh.iter().position(|byte| matches!(byte, b'\n' | b'\r')),
        _ => memchr2(b'\n', b'\r', fresh),
    };
    found.map(|found| searched + found)
}

/// Returns the text before the first LF and the text after it, if no other control character comes first.
#[inline]
pub(super) fn split_short(text: &[u8]) -> Option<(&[u8], &[u8])> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let (words, _) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit is that of the first byte below a space.
        let below = word.wrapping_sub(LOW * u64::from(b' ')) & !word & (LOW << 7);
        if below != 0 {
            let (line, rest) =
                text.split_at_checked(index * 8 + below.trailing_zeros() as usize / 8)?;
            return Some((line, rest.strip_prefix(b"\n")?));
        }
    }
    None
}

/// The name of a line's field, and where its value begins (SSE-03).
#[inline]
pub(super) fn parse(text: &[u8]) -> (Name, usize) {
    let (name, rest) = match text {
        [b'd', b'a', b't', b'a', rest @ ..] => (Name::Data, rest),
        [b'i', b'd', rest @ ..] => (Name::Id, rest),
        [b'e', b'v', b'e', b'n', b't', rest @ ..] => (Name::Event, rest),
        [b'r', b'e', b't', b'r', b'y', rest @ ..] => (Name::Retry, rest),
        rest => (Name::Comment, rest),
    };
    match rest {
        [b':', b' ', value @ ..] | [b':', value @ ..] | value @ [] => {
            (name, text.len() - value.len())
        }
        _ => (Name::Unknown, 0),
    }
}

/// Decimal digits as milliseconds, and nothing else (SSE-06).
pub(super) fn milliseconds(digits: &[u8]) -> Option<Duration> {
    let mut total = 0u64;
    for digit in digits {
        let value = u64::from(digit.checked_sub(b'0').filter(|value| *value < 10)?);
        total = total.saturating_mul(10).saturating_add(value);
    }
    (!digits.is_empty()).then(|| Duration::from_millis(total))
}
