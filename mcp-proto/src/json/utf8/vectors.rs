//! Long text by the crate `simdutf8`.

use super::boundary;
use crate::json::words::{self, BLOCK};

/// The bytes that are searched for an escape before they are validated: few enough to stay in the first cache.
const CHUNK: usize = 64 * BLOCK;

/// Returns an offset up to which text from `from` on is well-formed and has nothing to escape. The last character
/// before it may be cut there.
///
/// It stops early before less than a block, and up to a chunk before a fault.
pub(in crate::json) fn pass(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let far = at.saturating_add(CHUNK);
        let end = plain_end(bytes, at, far);
        // A character that is cut at the end is validated with the next chunk.
        let whole = boundary(bytes, end);
        match bytes.get(at..whole).map(simdutf8::basic::from_utf8) {
            Some(Ok(_)) if end == far => at = whole,
            Some(Ok(_)) => return end,
            _ => return at,
        }
    }
}

/// The offset of the first byte that has to be escaped, at most `far`, or of the last bytes that fill no block.
#[inline]
fn plain_end(bytes: &[u8], from: usize, far: usize) -> usize {
    let mut at = from;
    while at < far
        && let Some(block) = words::block(bytes, at)
    {
        if let Some(stop) = words::first_escape(block) {
            return at + stop;
        }
        at += BLOCK;
    }
    at
}
