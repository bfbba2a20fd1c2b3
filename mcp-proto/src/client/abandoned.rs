//! Calls that are over for this side, and that the server may still answer.

/// The latest calls that were abandoned, of those whose results may stand for work that the server
/// has begun.
#[derive(Debug, Default)]
pub(super) struct AbandonedCalls {
    /// In a circle.
    calls: [Abandoned; MOST],
    next: usize,
}

/// An id of a request, which is never 0, and what its result may be.
#[derive(Clone, Copy, Debug, Default)]
struct Abandoned {
    id: u64,
    results: LateResults,
}

/// Results that are reported although their call is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LateResults {
    /// The types that extensions define, as bits of their places in the configuration.
    pub(super) types: u32,
    /// The answer that creates a task of 2025-11-25, which has no type.
    pub(super) core_task: bool,
}

impl LateResults {
    const NONE: Self = Self {
        types: 0,
        core_task: false,
    };
}

impl AbandonedCalls {
    /// Notes a call in place of the oldest one.
    pub(super) fn note(&mut self, id: u64, results: LateResults) {
        if results == LateResults::NONE {
            return;
        }
        if let Some(place) = self.calls.get_mut(self.next % MOST) {
            *place = Abandoned { id, results };
        }
        self.next = (self.next + 1) % MOST;
    }

    /// Removes the call of this id, and returns what its result may be; nothing if it is not here.
    pub(super) fn take(&mut self, id: u64) -> LateResults {
        let place = self.calls.iter_mut().find(|call| call.id == id);
        place.map_or(LateResults::NONE, |call| core::mem::take(call).results)
    }
}

/// The answers to so many calls are recognized.
const MOST: usize = 16;
