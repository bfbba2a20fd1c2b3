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
    callers: HashMap<CallerName, CallerCounts>,
}

/// The name of a principal; callers without one are one.
pub(super) type CallerName = Option<Arc<str>>;

/// Whose share of the sessions is smaller by one.
#[derive(Clone)]
pub(super) enum Owner {
    /// The proxy's: it reads the lists, and no caller can use it up.
    Proxy,
    /// All callers share the session, which this one makes the proxy open: its start counts, and the session does not.
    All(CallerName),
    Caller(CallerName),
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
    owner: Owner,
}

impl Place {
    /// Returns the caller whose session has the place; `None` if callers share it.
    pub(super) fn caller(&self) -> CallerName {
        match &self.owner {
            Owner::Caller(name) => name.clone(),
            Owner::Proxy | Owner::All(_) => None,
        }
    }
}

impl Places {
    pub(super) fn new(limits: ProxyLimits) -> Arc<Self> {
        Arc::new(Self {
            counts: Watch::default(),
            limits,
        })
    }

    /// Returns a place for a session; `None` if a bound is reached.
    pub(super) fn take(self: &Arc<Self>, owner: Owner, now: Instant) -> Option<Place> {
        let limits = &self.limits;
        let taken = self.counts.change(|counts| {
            let is_callers = !matches!(owner, Owner::Proxy);
            if is_callers && counts.open >= limits.sessions {
                return false;
            }
            counts.callers.retain(|_, caller| caller.counts_at(now));
            let (name, is_own) = match &owner {
                Owner::Proxy => (None, false),
                Owner::All(name) => (Some(name), false),
                Owner::Caller(name) => (Some(name), true),
            };
            if let Some(name) = name {
                let caller = counts.callers.entry(name.clone()).or_default();
                let is_full = is_own && caller.open >= limits.sessions_per_caller;
                if is_full || caller.begun >= limits.starts_per_minute {
                    return false;
                }
                caller.open += usize::from(is_own);
                caller.begun += 1;
                caller.since.get_or_insert(now);
            }
            counts.open += 1;
            true
        });
        taken.then(|| Place {
            places: Arc::clone(self),
            owner,
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
            if let Owner::Caller(name) = &self.owner
                && let Some(caller) = counts.callers.get_mut(name)
            {
                caller.open -= 1;
            }
        });
    }
}

const MINUTE: Duration = Duration::from_secs(60);
