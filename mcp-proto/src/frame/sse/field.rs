//! A short value that outlives its input: the name or id of an event.

use crate::store::Store;

#[derive(Clone, Debug, Default)]
pub(super) struct Field<S> {
    store: S,
    len: usize,
}

impl<S: Store<u8>> Field<S> {
    pub(super) const fn new(store: S) -> Self {
        Self { store, len: 0 }
    }

    /// Takes the value over and says so, or leaves everything as it is if it is too long.
    pub(super) fn set(&mut self, value: &[u8]) -> bool {
        if value.len() > LONGEST || !self.store.grow(value.len()) {
            return false;
        }
        let Some(place) = self.store.as_mut().get_mut(..value.len()) else {
            return false;
        };
        place.copy_from_slice(value);
        self.len = value.len();
        true
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn value(&self) -> &[u8] {
        self.store.as_ref().get(..self.len).unwrap_or_default()
    }
}

/// The longest name or id. Ids of known servers have less than 100 bytes, and one has to fit
/// into a header line (`Last-Event-ID`), of which servers commonly take 8 KiB in all.
pub(super) const LONGEST: usize = 4 << 10;
