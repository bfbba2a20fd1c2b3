//! Long text in blocks, without a crate for it.

use crate::json::words::{self, BLOCK};

/// The blocks after one with characters of four bytes that are expected to have some, too.
const NEAR: u32 = 63;

/// Returns an offset up to which text from `from` on is well-formed and has nothing to escape. The last character
/// before it may be cut there.
///
/// It stops early before less than a block, and before characters of plane 16, which has no assigned ones.
pub(in crate::json) fn pass(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut near = 0u32;
    // The block before may end in a character of four bytes that is cut there, which a search for shorter ones overlooks.
    let mut was_long = false;
    while let Some(block) = words::block(bytes, at) {
        if near > 0 || (was_long && is_cut(bytes, at)) || !continues::<3>(bytes, at) {
            if !continues::<4>(bytes, at) {
                break;
            }
            near = near.checked_sub(1).unwrap_or(NEAR);
            was_long = true;
        } else {
            was_long = false;
        }
        if let Some(stop) = words::first_escape(block) {
            return at + stop;
        }
        at += BLOCK;
    }
    at
}

/// Returns true if a character of four bytes may begin before `at` and end behind it.
fn is_cut(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(at.saturating_sub(3)..at).unwrap_or_default();
    before.iter().any(|byte| *byte >= 0xF0)
}

/// Returns true if a block continues the bytes before it as UTF-8, in characters of at most `LONGEST` bytes, three or
/// four, below plane 16. One may be cut at the end.
///
/// Every byte is compared with those before it, without a branch: the compiler makes vector code of it. Differences that
/// saturate at zero are the comparisons that every processor has.
#[inline]
fn continues<const LONGEST: usize>(bytes: &[u8], at: usize) -> bool {
    let before = |distance| words::block(bytes, at.checked_sub(distance)?);
    let (Some(block), Some(first), Some(second), Some(third)) =
        (before(0), before(1), before(2), before(LONGEST - 1))
    else {
        return false;
    };
    let mut wrong = false;
    for (((byte, first), second), third) in block.iter().zip(first).zip(second).zip(third) {
        let (byte, first) = (*byte, *first);
        let mut expected = first.saturating_sub(0xBF) | second.saturating_sub(0xDF);
        if LONGEST == 4 {
            expected |= third.saturating_sub(0xEF);
            wrong |= (first == 0xF0) & (byte as i8 <= 0x8F_u8 as i8);
        }
        let is_continuation = byte as i8 <= 0xBF_u8 as i8;
        wrong |= is_continuation == (expected == 0);
        // Overlong forms and surrogates; a byte below 0x80 is wrong there anyway.
        wrong |= (first == 0xE0) & (byte as i8 <= 0x9F_u8 as i8);
        wrong |= (first == 0xED) & (byte as i8 > 0x9F_u8 as i8);
        wrong |= (byte & 0xFE == 0xC0) | (byte > if LONGEST == 4 { 0xF3 } else { 0xEF });
    }
    !wrong
}
