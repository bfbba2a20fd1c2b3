//! Answers that were written and not read.

use std::sync::Arc;

use crate::shares::{CallerId, Share, Shares};

/// The bytes that answers may take together while they are not read, the beginning of each not
/// counted: a short answer takes no lock, and less than its connection takes.
pub(crate) struct UnreadBudget(Arc<Shares<CallerId>>);

impl UnreadBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Shares::new(bytes))
    }

    /// For the answers to one request.
    pub(crate) fn part(&self, caller: Option<CallerId>) -> UnreadBytes {
        UnreadBytes(self.0.empty(caller))
    }
}

/// The part of an [`UnreadBudget`] that the answers to one request take, given back when it is
/// dropped.
pub(crate) struct UnreadBytes(Share<CallerId>);

impl UnreadBytes {
    /// Counts so many bytes at least; false, and nothing changes, if they are more than there is room for.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> bool {
        self.0.grow_to(bytes.saturating_sub(FREE))
    }

    /// Counts so many bytes, which exist already.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.0.set(bytes.saturating_sub(FREE));
    }
}

/// The beginning of each answer that is not counted.
pub(crate) const FREE: usize = 4 << 10;
