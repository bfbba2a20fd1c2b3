//! Validates UTF-8 in strings that are not ASCII.

#[cfg(any(test, not(feature = "simd")))]
mod blocks;
#[cfg(feature = "simd")]
mod vectors;

#[cfg(not(feature = "simd"))]
pub(super) use blocks::pass;
#[cfg(feature = "simd")]
pub(super) use vectors::pass;

/// The offset behind the character that begins at `at`, by table 3-7 of the Unicode Standard:
/// no overlong forms, no surrogates, nothing above U+10FFFF. ASCII is not asked for here.
#[inline]
pub(super) fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (lead, rest) = bytes.get(at..)?.split_first()?;
    match (lead, rest) {
        (0xC2..=0xDF, [0x80..=0xBF, ..]) => Some(at + 2),
        (0xE0, [0xA0..=0xBF, 0x80..=0xBF, ..])
        | (0xE1..=0xEC | 0xEE | 0xEF, [0x80..=0xBF, 0x80..=0xBF, ..])
        | (0xED, [0x80..=0x9F, 0x80..=0xBF, ..]) => Some(at + 3),
        (0xF0, [0x90..=0xBF, 0x80..=0xBF, 0x80..=0xBF, ..])
        | (0xF1..=0xF3, [0x80..=0xBF, 0x80..=0xBF, 0x80..=0xBF, ..])
        | (0xF4, [0x80..=0x8F, 0x80..=0xBF, 0x80..=0xBF, ..]) => Some(at + 4),
        _ => None,
    }
}

/// Returns the bytes of a character. Not `encode_utf8`, whose panic stays in code that is optimized for size.
pub(super) fn encode(char: char, bytes: &mut [u8; 4]) -> &[u8] {
    let value = u32::from(char);
    let next = |shift: u32| 0x80 | (value >> shift & 0x3F) as u8;
    let (encoded, len) = match value {
        ..0x80 => ([value as u8, 0, 0, 0], 1),
        0x80..0x800 => ([0xC0 | (value >> 6) as u8, next(0), 0, 0], 2),
        0x800..0x1_0000 => ([0xE0 | (value >> 12) as u8, next(6), next(0), 0], 3),
        _ => ([0xF0 | (value >> 18) as u8, next(12), next(6), next(0)], 4),
    };
    *bytes = encoded;
    bytes.get(..len).unwrap_or_default()
}

/// The start of the character that `at` lies in, if it is cut there.
#[inline]
pub(super) fn boundary(bytes: &[u8], at: usize) -> usize {
    let mut start = at;
    for _ in 0..3 {
        let Some(before) = start.checked_sub(1) else {
            break;
        };
        start = before;
        match bytes.get(start) {
            // A lead byte: is it one of a character that reaches to `at` or beyond?
            Some(0xC0..) => return start,
            Some(0x80..=0xBF) => {}
            _ => break,
        }
    }
    at
}

/// Bytes that a scanner has checked, as text.
///
/// Checked once more, which safe code cannot avoid; the empty text is never taken for them,
/// because they are valid.
#[inline]
pub(super) fn text(checked: &[u8]) -> &str {
    // From 64 bytes on, the crate is faster than `core`.
    #[cfg(feature = "simd")]
    if checked.len() >= 64 {
        return simdutf8::basic::from_utf8(checked).unwrap_or_default();
    }
    core::str::from_utf8(checked).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;

    use super::*;
    use crate::json::words::{BLOCK, next_escape};

    const PASSES: &[fn(&[u8], usize) -> usize] = &[
        blocks::pass,
        #[cfg(feature = "simd")]
        vectors::pass,
    ];

    /// Each way passes well-formed characters without escapes only, and stops at most `short` bytes before `end`.
    fn check(text: &[u8], end: usize, short: usize) {
        for pass in PASSES {
            let at = boundary(text, pass(text, 3));
            let passed = text.get(..at).unwrap();
            assert!(core::str::from_utf8(passed).is_ok(), "{at} {text:?}");
            assert_eq!(next_escape(passed), None, "{at} {text:?}");
            assert!(at <= end && end <= at + short, "{at} {end} {text:?}");
        }
    }

    #[test]
    fn long_text_is_passed_up_to_its_last_block_or_an_escape() {
        for characters in ["é", "好", "😀", "한", "ก", "é 好 so 😀 on "] {
            let long: Vec<u8> = "abc"
                .bytes()
                .chain(characters.bytes().cycle())
                .take(9000)
                .collect();
            for len in (3..300).chain([4095, 4096, 4099, 4160, 8195, 9000]) {
                let text = long.get(..len).unwrap();
                check(text, len, BLOCK + 3);
                let quoted = [text.get(..boundary(text, len)).unwrap(), &[b'"'; BLOCK]].concat();
                // The character before the quote is looked at again.
                check(&quoted, quoted.len() - BLOCK, 4);
            }
        }
    }

    #[test]
    fn text_is_never_passed_beyond_a_fault() {
        for fault in [
            &b"\x80"[..],
            b"\xC1\xBF",
            b"\xE0\x9F\xBF",
            b"\xED\xA0\x80",
            b"\xF0\x8F\xBF\xBF",
            b"\xF4\x90\x80\x80",
            b"\xF5",
            b"\n",
            b"\xC3",
            b"\xE5\xA5",
            b"\xF0\x9F",
            b"\xF0\x9F\x98",
        ] {
            for characters in ["é", "好", "😀"] {
                for count in (0..100).chain([1022, 1023, 1024, 1365, 2047, 2048]) {
                    // A fault at each place of a block, and of the blocks that expect longer characters.
                    for more in ["", "a", "aa", "aaa"] {
                        let before =
                            [b"abc", characters.repeat(count).as_bytes(), more.as_bytes()].concat();
                        for behind in [characters, "a"] {
                            let text = [&before, fault, behind.repeat(BLOCK).as_bytes()].concat();
                            check(&text, before.len(), text.len());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn long_text_with_any_byte_changed_is_never_passed_beyond_a_fault() {
        let mut random = 1u32;
        let mut next = |below: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % below
        };
        let characters = ["a", "é", "好", "😀"];
        for _ in 0..2_000 {
            // Mostly of one kind, as texts are.
            let usual = next(characters.len());
            let mut text = b"abc".to_vec();
            while text.len() < 5_000 {
                let kind = if next(40) == 0 {
                    next(characters.len())
                } else {
                    usual
                };
                text.extend_from_slice(characters[kind].as_bytes());
            }
            for _ in 0..next(3) {
                let at = 3 + next(text.len() - 3);
                text[at] = next(256) as u8;
            }
            check(&text, text.len(), text.len());
        }
    }

    #[test]
    fn every_character_is_encoded() {
        for char in '\0'..=char::MAX {
            let (mut ours, mut expected) = ([0; 4], [0; 4]);
            assert_eq!(
                encode(char, &mut ours),
                char.encode_utf8(&mut expected).as_bytes()
            );
        }
    }
}
