//! Calls that are sent as one array, in 2025-03-26 (JR-16).

use crate::array_buf::ArrayBuf;
use crate::store::Store;

/// The array of calls that the application makes.
#[derive(Debug)]
pub(super) struct Gathered<B> {
    pub(super) array: ArrayBuf<B>,
    pub(super) calls: usize,
    pub(super) open: bool,
    /// It is complete and waits to be written.
    pub(super) due: bool,
}

impl<B: Store<u8>> Gathered<B> {
    pub(super) const fn new(store: B, limit: usize) -> Self {
        Self {
            array: ArrayBuf::new(store, limit),
            calls: 0,
            open: false,
            due: false,
        }
    }

    pub(super) fn clear(&mut self) {
        self.array.clear();
        self.calls = 0;
        self.open = false;
        self.due = false;
    }
}
