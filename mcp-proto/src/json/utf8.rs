//! UTF-8, where a string is not ASCII.

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

/// Whether 64 bytes from `at` on go on as UTF-8 after the three bytes before them; a character
/// may be cut at the end. `false` if there are not as many bytes.
///
/// Every byte is compared with the three before it, without a branch: the compiler makes vector
/// code of it.
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
        let continuation = byte & 0xC0 == 0x80;
        let expected = (first >= 0xC0) | (second >= 0xE0) | (third >= 0xF0);
        wrong |= u8::from(continuation != expected);
        // Overlong forms, surrogates, and what lies above U+10FFFF.
        wrong |= u8::from((byte == 0xC0) | (byte == 0xC1) | (byte >= 0xF5));
        wrong |= u8::from((first == 0xE0) & (byte < 0xA0));
        wrong |= u8::from((first == 0xED) & (byte > 0x9F));
        wrong |= u8::from((first == 0xF0) & (byte < 0x90));
        wrong |= u8::from((first == 0xF4) & (byte > 0x8F));
    }
    wrong == 0
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
