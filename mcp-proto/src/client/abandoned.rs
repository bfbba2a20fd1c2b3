//! Calls that are over for this side, and that the server may still answer.

use crate::store::{self, Store};

/// The latest calls that were abandoned, of those whose results may stand for work that the server
/// has begun.
#[derive(Debug)]
pub(super) struct AbandonedCalls<S> {
    /// In a circle, which grows up to the limit.
    calls: S,
    limit: usize,
    next: usize,
}

/// An id of a request, which is never 0, and what its result may be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abandoned {
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

impl<S: Store<Abandoned>> AbandonedCalls<S> {
    /// As many calls are noted as may be in flight.
    pub(super) const fn new(calls: S, limit: usize) -> Self {
        Self {
            calls,
            limit,
            next: 0,
        }
    }

    /// Notes a call in place of the oldest one.
    pub(super) fn note(&mut self, id: u64, results: LateResults) {
        if results == LateResults::NONE {
            return;
        }
        let least = self.next + 1;
        let wanted = least.saturating_mul(2).min(self.limit);
        let has_place = self.next < self.limit
            && (least <= self.calls.as_ref().len()
                || store::enlarge(&mut self.calls, least, wanted));
        let at = if has_place { self.next } else { 0 };
        if let Some(place) = self.calls.as_mut().get_mut(at) {
            *place = Abandoned { id, results };
            self.next = at + 1;
        }
    }

    /// Removes the call of this id, and returns what its result may be; nothing if it is not here.
    pub(super) fn take(&mut self, id: u64) -> LateResults {
        let mut calls = self.calls.as_mut().iter_mut();
        let place = calls.find(|call| call.id == id);
        place.map_or(LateResults::NONE, |call| core::mem::take(call).results)
    }
}
