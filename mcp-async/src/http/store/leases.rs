//! The leases of processes.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::Instant;

use super::{LiveProcess, Owner};

/// The leases of processes, by their names.
#[derive(Default)]
pub(super) struct Leases {
    by_process: BTreeMap<Arc<str>, Lease>,
    /// The greatest number of a lease.
    last: u64,
}

struct Lease {
    number: u64,
    end: Instant,
    announcement: Vec<u8>,
}

impl Leases {
    /// Renews the lease of a process until `end`, or begins one; returns its number.
    pub(super) fn renew(
        &mut self,
        process: &str,
        last: u64,
        announcement: &[u8],
        now: Instant,
        end: Instant,
    ) -> u64 {
        self.by_process.retain(|_, lease| now < lease.end);
        let known = self.by_process.get(process).map(|lease| lease.number);
        let number = match known {
            Some(number) if number == last => number,
            _ => {
                self.last = self.last.max(last).max(known.unwrap_or(0)) + 1;
                self.last
            }
        };
        let lease = Lease {
            number,
            end,
            announcement: announcement.to_vec(),
        };
        self.by_process.insert(process.into(), lease);
        number
    }

    /// Ends a lease.
    pub(super) fn end(&mut self, owner: &Owner) {
        if let Some(lease) = self.by_process.get(&owner.process)
            && lease.number == owner.lease
        {
            self.by_process.remove(&owner.process);
        }
    }

    /// The number of the lease of a process that lives.
    pub(super) fn of(&self, process: &str, now: Instant) -> Option<u64> {
        let lease = self.by_process.get(process)?;
        (now < lease.end).then_some(lease.number)
    }

    /// The processes that live.
    pub(super) fn live(&self, now: Instant) -> Vec<LiveProcess> {
        let live = self.by_process.iter().filter(|(_, lease)| now < lease.end);
        live.map(|(process, lease)| LiveProcess {
            owner: Owner::new(Arc::clone(process), lease.number),
            announcement: lease.announcement.clone(),
        })
        .collect()
    }
}
