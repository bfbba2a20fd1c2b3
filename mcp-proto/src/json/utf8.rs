//! Validates UTF-8 in strings that are not ASCII.

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

/// Returns true if 64 bytes from `at` on continue the three bytes before them as UTF-8; a character
/// may be cut at the end. `false` if there are not as many bytes.
///
/// Every byte is compared with the three before it, without a branch: the compiler makes vector
/// code of it. Differences that saturate at zero are the comparisons that every processor has.
#[inline]
pub(super) fn continues(bytes: &[u8], at: usize) -> bool {
    let back = |distance: usize| bytes.get(at.checked_sub(distance)?..)?.first_chunk::<64>();
    let (Some(block), Some(first), Some(second), Some(third)) =
        (back(0), back(1), back(2), back(3))
    else {
        return false;
    };
    let mut wrong = 0u8;
    for (((byte, first), second), third) in block.iter().zip(first).zip(second).zip(third) {
        let (byte, first, second, third) = (*byte, *first, *second, *third);
        let expected =
            first.saturating_sub(0xBF) | second.saturating_sub(0xDF) | third.saturating_sub(0xEF);
        let continuation = (byte as i8) < -0x40;
        wrong |= mask(continuation == (expected == 0));
        // Overlong forms, surrogates, and what lies above U+10FFFF.
        let least = (mask(first == 0xE0) & 0xA0) | (mask(first == 0xF0) & 0x90);
        let most = !((mask(first == 0xED) & !0x9F) | (mask(first == 0xF4) & !0x8F));
        wrong |= least.saturating_sub(byte) | byte.saturating_sub(most);
        wrong |= byte.saturating_sub(0xF4) | mask(byte & 0xFE == 0xC0);
    }
    wrong == 0
}

#[inline(always)]
const fn mask(condition: bool) -> u8 {
    if condition { 0xFF } else { 0 }
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
