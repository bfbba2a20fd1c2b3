//! The bounds of sessions with servers.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::Instant;

use super::ProxyLimits;
use crate::watch::Watch;

/// The number of sessions that are open, of each caller and in all.
pub(super) struct Places {
    counts: Watch<Counts>,
    limits: ProxyLimits,
}

#[derive(Default)]
struct Counts {
    open: usize,
    callers: HashMap<Option<Arc<str>>, CallerCounts>,
}

/// The counts of a caller.
#[derive(Default)]
struct CallerCounts {
    open: usize,
    /// Sessions that were opened since this time, which is at most a minute ago.
    begun: usize,
    since: Option<Instant>,
}

/// A session that counts. It does until it is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    caller: Option<Arc<str>>,
}

impl Places {
    pub(super) fn new(limits: ProxyLimits) -> Arc<Self> {
        Arc::new(Self {
            counts: Watch::default(),
            limits,
        })
    }

    /// Returns a place for a session of this caller, by the name of its principal; `None` if a bound is reached.
    pub(super) fn take(self: &Arc<Self>, caller: Option<&Arc<str>>, now: Instant) -> Option<Place> {
        let limits = &self.limits;
        let taken = self.counts.change(|counts| {
            if counts.open >= limits.sessions {
                return false;
            }
            counts.callers.retain(|_, caller| caller.counts_at(now));
            let caller = counts.callers.entry(caller.cloned()).or_default();
            if caller.open >= limits.sessions_per_caller || caller.begun >= limits.starts_per_minute
            {
                return false;
            }
            caller.open += 1;
            caller.begun += 1;
            caller.since.get_or_insert(now);
            counts.open += 1;
            true
        });
        taken.then(|| Place {
            places: Arc::clone(self),
            caller: caller.cloned(),
        })
    }

    /// Returns the number of sessions that are open.
    pub(super) fn open(&self) -> usize {
        self.counts.read(|counts| counts.open)
    }
}

impl CallerCounts {
    /// Forgets the starts of more than a minute ago. Returns whether the caller still counts.
    fn counts_at(&mut self, now: Instant) -> bool {
        if self
            .since
            .is_some_and(|since| now.saturating_since(since) >= MINUTE)
        {
            (self.begun, self.since) = (0, None);
        }
        self.open > 0 || self.begun > 0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.counts.change(|counts| {
            counts.open -= 1;
            if let Some(caller) = counts.callers.get_mut(&self.caller) {
                caller.open -= 1;
            }
        });
    }
}

const MINUTE: Duration = Duration::from_secs(60);
