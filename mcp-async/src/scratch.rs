//! A buffer for work that fills it and empties it again.

use core::cell::Cell;

std::thread_local! {
    /// Made once for a thread, because to fill so much with zeros for each use takes longer than to use it.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends the buffer of the thread, or another one while that is lent, with at least [`SIZE`] bytes. It contains what the last
/// user has left there.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
    if scratch.len() < SIZE {
        scratch.resize(SIZE, 0);
    }
    let result = work(&mut scratch);
    if scratch.capacity() <= KEPT {
        // A thread that ends has none any more.
        let _ = SCRATCH.try_with(|place| place.set(scratch));
    }
    result
}

/// Half of the size that hyper begins its buffers with, and more than most messages need.
pub(crate) const SIZE: usize = 8 << 10;

/// A buffer that has become larger is not kept.
const KEPT: usize = 64 << 10;
