//! The leases of processes, as a store in memory keeps them.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::Instant;

/// The leases of processes, by their names.
#[derive(Clone, Default)]
pub(crate) struct Leases {
    by_process: BTreeMap<Arc<str>, Lease>,
    /// The greatest number of a lease.
    last: u64,
}

#[derive(Clone)]
struct Lease {
    number: u64,
    end: Instant,
}

impl Leases {
    /// Renews the lease of a process for `lease` from now, or begins one; returns its number. `last` is the number of
    /// the lease that the process had.
    pub(crate) fn renew(&mut self, process: &str, last: u64, now: Instant, lease: Duration) -> u64 {
        let number = match self.of(process, now) {
            Some(number) if number == last => number,
            _ => {
                self.last = self.last.max(last) + 1;
                self.last
            }
        };
        let end = now + lease;
        self.by_process
            .insert(process.into(), Lease { number, end });
        number
    }

    /// The number of the lease of a process that lives.
    pub(crate) fn of(&self, process: &str, now: Instant) -> Option<u64> {
        let lease = self.by_process.get(process)?;
        (now < lease.end).then_some(lease.number)
    }

    /// Returns true if the lease of a known process is over.
    pub(crate) fn has_ended_leases(&self, now: Instant) -> bool {
        self.by_process.values().any(|lease| lease.end <= now)
    }

    /// Ends a lease.
    pub(crate) fn end(&mut self, process: &str, number: u64) {
        let lease = self.by_process.get(process);
        if lease.is_some_and(|lease| lease.number == number) {
            self.by_process.remove(process);
        }
    }

    /// Forgets the processes that do not live.
    pub(crate) fn forget_ended(&mut self, now: Instant) {
        self.by_process.retain(|_, lease| now < lease.end);
    }
}
