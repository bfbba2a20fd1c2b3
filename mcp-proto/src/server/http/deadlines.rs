//! Deadlines of machines and exchanges, the earliest first.

use alloc::collections::BTreeSet;

use super::{ExchangeId, ServerId};
use crate::time::Instant;

/// At most one deadline for each of them.
#[derive(Default)]
pub(super) struct Deadlines(BTreeSet<(Instant, Due)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Machine(ServerId),
    Exchange(ExchangeId),
}

impl Deadlines {
    /// Sets the deadline of `due` to `at`; `armed` is what the caller keeps of it.
    pub(super) fn arm(&mut self, due: Due, armed: &mut Option<Instant>, at: Option<Instant>) {
        if *armed == at {
            return;
        }
        if let Some(former) = *armed {
            self.0.remove(&(former, due));
        }
        if let Some(at) = at {
            self.0.insert((at, due));
        }
        *armed = at;
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.0.first().and_then(|(at, _)| at.as_deadline())
    }

    /// Takes out the earliest, if its time has come.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Due> {
        let (at, due) = *self.0.first()?;
        if !at.is_due(now) {
            return None;
        }
        self.0.remove(&(at, due));
        Some(due)
    }
}
