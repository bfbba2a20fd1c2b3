//! The requests of one message whose answers have not come.

use alloc::vec::Vec;

/// Their ids: of one request, or of all that left in one array (JR-16).
#[derive(Debug, Default)]
pub(super) struct Awaited {
    first: Option<u64>,
    /// Empty outside of arrays, so that one request takes no allocation.
    others: Vec<u64>,
}

impl Awaited {
    pub(super) const fn one(id: Option<u64>) -> Self {
        Self {
            first: id,
            others: Vec::new(),
        }
    }

    pub(super) fn of(mut ids: impl Iterator<Item = u64>) -> Self {
        Self {
            first: ids.next(),
            others: ids.collect(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Returns the id if there is only one.
    pub(super) fn only(&self) -> Option<u64> {
        self.first.filter(|_| self.others.is_empty())
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.iter().any(|own| own == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.first.into_iter().chain(self.others.iter().copied())
    }

    /// Returns true if the id was among them.
    pub(super) fn remove(&mut self, id: u64) -> bool {
        if self.first == Some(id) {
            self.first = self.others.pop();
            return true;
        }
        let at = self.others.iter().position(|own| *own == id);
        at.is_some_and(|at| {
            self.others.swap_remove(at);
            true
        })
    }
}
