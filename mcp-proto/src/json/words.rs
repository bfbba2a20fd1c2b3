//! Eight bytes at a time.
//!
//! A word is read little-endian, so the lowest byte of the number is the first of the text.
//! The subtractions borrow across bytes, which can only raise false alarms *above* a true one:
//! the lowest alarm is always exact.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// True if long strings are searched in blocks. Firmware has neither long strings nor the flash.
pub(super) const HAS_BLOCKS: bool = cfg!(feature = "alloc");
/// The words of a string that are searched in the place of the call: in firmware, which has this code once, as many as the longest
/// reserved names have.
pub(super) const LOOK: usize = if HAS_BLOCKS { 2 } else { 6 };
/// The bytes of a string that are searched word by word before blocks are tried.
pub(super) const NEAR: usize = 64;
/// The bytes of a block.
pub(super) const BLOCK: usize = 64;

/// Returns true if the bytes are equal.
#[inline(always)]
pub(crate) fn equal(left: &[u8], right: &[u8]) -> bool {
    if HAS_BLOCKS {
        left == right
    } else {
        left.len() == right.len() && equal_by_words(left, right)
    }
}

/// Compares bytes of the same length, in fewer steps than the `memcmp` of a target without a C library, which takes single bytes.
#[inline(never)]
fn equal_by_words(left: &[u8], right: &[u8]) -> bool {
    let Some(right) = right.get(..left.len()) else {
        return false;
    };
    let (words, tail) = left.as_chunks::<4>();
    let (other_words, other_tail) = right.as_chunks::<4>();
    let mut pairs = words.iter().zip(other_words);
    pairs.all(|(word, other)| u32::from_le_bytes(*word) == u32::from_le_bytes(*other))
        && tail
            .iter()
            .zip(other_tail)
            .all(|(byte, other)| byte == other)
}

/// The eight bytes from `at` on, if there are eight.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*chunk))
}

/// The first eight bytes, if there are eight, and what follows them.
#[inline(always)]
pub(super) fn split(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (chunk, behind) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*chunk), behind))
}

/// The eight bytes from `at` on, with zeros for those that lie behind the end.
#[inline(always)]
pub(super) fn word_or_end(bytes: &[u8], at: usize) -> u64 {
    match word(bytes, at) {
        Some(word) => word,
        None => end(bytes, at),
    }
}

/// The bytes from `at` on, of which there are less than eight.
#[inline(never)]
fn end(bytes: &[u8], at: usize) -> u64 {
    let left = bytes.len().saturating_sub(at);
    match bytes.last_chunk::<8>() {
        // Bytes before `at` are shifted out.
        Some(last) => {
            let before = 64 - 8 * left.min(8) as u32;
            u64::from_le_bytes(*last).checked_shr(before).unwrap_or(0)
        }
        None => {
            let bytes = bytes.get(at..).unwrap_or_default();
            bytes
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    }
}

/// Marks control characters, quotes, backslashes and everything beyond ASCII.
///
/// `byte ^ 2` swaps the quote (0x22) with the space (0x20), so one comparison with 0x21 finds
/// the quote and the control characters together.
#[inline(always)]
pub(super) const fn stops(word: u64) -> u64 {
    let control_or_quote = (word ^ (LOW * 0x02)).wrapping_sub(LOW * 0x21);
    let backslash = (word ^ (LOW * b'\\' as u64)).wrapping_sub(LOW);
    (control_or_quote | backslash | word) & HIGH
}

/// Marks control characters, quotes and backslashes: what a writer has to escape.
#[inline(always)]
pub(super) const fn escapes(word: u64) -> u64 {
    // With the high bits set no byte borrows from the next, so bytes beyond ASCII raise no
    // alarm in their neighbours; a high bit that the subtraction clears is a mark.
    let high = word | HIGH;
    let control_or_quote = (high ^ (LOW * 0x02)).wrapping_sub(LOW * 0x21);
    let backslash = (high ^ (LOW * b'\\' as u64)).wrapping_sub(LOW);
    !(control_or_quote & backslash | word) & HIGH
}

/// Marks quotes and backslashes.
#[inline(always)]
pub(super) const fn quotes(word: u64) -> u64 {
    let high = word | HIGH;
    let quote = (high ^ (LOW * b'"' as u64)).wrapping_sub(LOW);
    let backslash = (high ^ (LOW * b'\\' as u64)).wrapping_sub(LOW);
    !(quote & backslash | word) & HIGH
}

/// The block from `at` on, if there are enough bytes.
#[inline(always)]
pub(super) fn block(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

/// Returns true if a block has a byte that must not stand in a string as it is. A loop that asks
/// for nothing else becomes vector code.
#[inline(always)]
pub(super) fn has_escape(block: &[u8; BLOCK]) -> bool {
    let mut found = false;
    for byte in block {
        found |= (byte ^ 2 < 0x21) | (*byte == b'\\');
    }
    found
}

/// The index of the first byte of a block that must not stand in a string as it is.
#[inline]
pub(super) fn first_escape(block: &[u8; BLOCK]) -> Option<usize> {
    if !has_escape(block) {
        return None;
    }
    let (chunks, _) = block.as_chunks::<8>();
    chunks.iter().enumerate().find_map(|(index, chunk)| {
        let escapes = escapes(u64::from_le_bytes(*chunk));
        (escapes != 0).then(|| index * 8 + first(escapes))
    })
}

/// Returns the offset of the first quote or backslash from `from` on.
#[inline(always)]
pub(crate) fn next_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let near = from.saturating_add(NEAR);
    let mut at = from;
    while let Some(word) = word(bytes, at) {
        let quotes = quotes(word);
        if quotes != 0 {
            return Some(at + first(quotes));
        }
        at += 8;
        if HAS_BLOCKS && at >= near {
            return far_quote(bytes, at);
        }
    }
    let tail = bytes.get(at..)?;
    let quote = |byte: &u8| matches!(byte, b'"' | b'\\');
    tail.iter().position(quote).map(|offset| at + offset)
}

/// Returns the offset of the first quote or backslash from `at` on, in a long text.
#[inline(never)]
fn far_quote(bytes: &[u8], at: usize) -> Option<usize> {
    memchr::memchr2(b'"', b'\\', bytes.get(at..)?).map(|offset| at + offset)
}

/// The index of the first marked byte of a word that has one.
#[inline(always)]
pub(super) const fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// The offset of the first byte that must not stand in a string as it is.
pub(super) fn next_escape(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = word(text, at) {
        let escapes = escapes(word);
        if escapes != 0 {
            return Some(at + first(escapes));
        }
        at += 8;
        if HAS_BLOCKS && at == NEAR {
            while block(text, at).is_some_and(|block| !has_escape(block)) {
                at += BLOCK;
            }
        }
    }
    let tail = text.get(at..)?;
    let escape = |byte: &u8| matches!(byte, ..0x20 | b'"' | b'\\');
    tail.iter().position(escape).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte in every place, among bytes that make the borrows run.
    #[test]
    fn the_first_mark_is_exact() {
        for filler in [b' ', b'!', b'#', b'[', b']', b'z', 0x7F] {
            for place in 0..8 {
                for byte in 0..=u8::MAX {
                    let mut text = [filler; 8];
                    if let Some(slot) = text.get_mut(place) {
                        *slot = byte;
                    }
                    let word = u64::from_le_bytes(text);
                    let check = |marks: u64, expected: bool| {
                        assert_eq!(marks != 0, expected, "{text:?}");
                        assert!(!expected || first(marks) == place, "{text:?}");
                    };
                    let escape = byte < 0x20 || byte == b'"' || byte == b'\\';
                    check(stops(word), escape || byte >= 0x80);
                    check(escapes(word), escape);
                    check(quotes(word), byte == b'"' || byte == b'\\');
                }
            }
        }
    }

    /// Texts of each length around that of a word, and of which one byte differs.
    #[test]
    fn words_are_equal_if_all_bytes_are() {
        let text = [b'x'; 19];
        for len in 0..=text.len() {
            let left = &text[..len];
            assert!(equal_by_words(left, left));
            assert!(!equal(left, &[b'x'; 20][..len + 1]));
            for place in 0..len {
                let mut other = text;
                other[place] = b'y';
                assert!(!equal_by_words(left, &other[..len]), "{place} of {len}");
            }
        }
    }

    /// A byte in every place of a text that is long enough for each way to search it.
    #[test]
    fn long_texts_are_searched_to_their_end() {
        let filler = [b'x'; 3 * BLOCK + 9];
        assert_eq!(next_escape(&filler), None);
        assert_eq!(far_quote(&filler, 0), None);
        for place in 0..filler.len() {
            for byte in [b'"', b'\\', b'\n', 0x1F, 0x7F, 0xC3] {
                let mut text = filler;
                text[place] = byte;
                let escape = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(next_escape(&text), escape.then_some(place), "{byte}");
                let quote = byte == b'"' || byte == b'\\';
                assert_eq!(far_quote(&text, 0), quote.then_some(place), "{byte}");
            }
        }
    }
}
