//! Processes, and whose a session is.

use core::fmt;
use std::sync::Arc;

/// A process in one of its leases, as the owner of sessions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The random name of the process.
    pub process: Arc<str>,
    /// The number of its lease. A process whose lease was over has a greater one afterwards.
    pub lease: u64,
}

/// A process that lives, as [`SessionStore::announce`](super::SessionStore::announce) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveProcess {
    /// The process and its lease.
    pub owner: Owner,
    /// The announcement of the process.
    pub announcement: Vec<u8>,
}

/// The answer of a store to an announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The number of the lease of the process that asked.
    pub lease: u64,
    /// All processes whose leases are not over, this one included.
    pub processes: Vec<LiveProcess>,
}

/// The owner of a session: see [`SessionStore::claim`](super::SessionStore::claim).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The process that asked owns it now; the epoch of the session, which has not changed.
    Own(u32),
    /// This process owns it and lives, in this lease.
    Other(Owner),
    /// The process that owns it does not live, and was not to be displaced.
    Dead,
    /// There is no such session.
    Unknown,
    /// The lease of the process that asked is over: it has to announce itself first.
    Unannounced,
}

/// A session as its next owner finds it.
#[derive(Clone, PartialEq, Eq)]
pub struct TakenSession {
    /// The record that was saved last.
    pub record: Vec<u8>,
    /// The epoch that begins: how often the session has been taken, this time included.
    pub epoch: u32,
    /// The number of the last event of the session's own stream, 0 if it has no event.
    pub last_event: u64,
}

impl Owner {
    /// A process in this lease.
    pub fn new(process: impl Into<Arc<str>>, lease: u64) -> Self {
        Self {
            process: process.into(),
            lease,
        }
    }
}

impl fmt::Debug for TakenSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakenSession")
            .field("epoch", &self.epoch)
            .field("last_event", &self.last_event)
            .finish_non_exhaustive()
    }
}
