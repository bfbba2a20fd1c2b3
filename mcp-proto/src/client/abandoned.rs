//! Calls that are over for this side, and that the server may still answer.

/// The latest calls that were abandoned, of those whose results may be of a type that an extension
/// defines. Such a result can stand for work that the server has begun.
#[derive(Debug, Default)]
pub(super) struct AbandonedCalls {
    /// In a circle.
    calls: [Abandoned; MOST],
    next: usize,
}

/// An id of a request, which is never 0, and its types of results as bits.
#[derive(Clone, Copy, Debug, Default)]
struct Abandoned {
    id: u64,
    result_types: u32,
}

impl AbandonedCalls {
    /// Notes a call in place of the oldest one.
    pub(super) fn note(&mut self, id: u64, result_types: u32) {
        if result_types == 0 {
            return;
        }
        if let Some(place) = self.calls.get_mut(self.next % MOST) {
            *place = Abandoned { id, result_types };
        }
        self.next = (self.next + 1) % MOST;
    }

    /// Removes the call of this id, and returns its types of results; 0 if it is not here.
    pub(super) fn take(&mut self, id: u64) -> u32 {
        let place = self.calls.iter_mut().find(|call| call.id == id);
        place.map_or(0, |call| core::mem::take(call).result_types)
    }
}

/// The answers to so many calls are recognized.
const MOST: usize = 16;
