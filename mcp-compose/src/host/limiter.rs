//! A limit in number and in time.

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_async::Instant;

/// How much of something may be done: so many at once, and so many in any period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) at_once: usize,
    pub(super) per_period: usize,
    pub(super) period: Duration,
}

/// Counts what is done against a [`Limit`].
#[derive(Debug)]
pub(super) struct Limiter {
    limit: Limit,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    /// The tokens of the bucket that are used up; they come back evenly over a period.
    used: f64,
    seen: Instant,
}

/// One of those at once, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit(Arc<Limiter>);

impl Limiter {
    pub(super) fn new(limit: Limit) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { limit, state })
    }

    /// Returns a permit unless the limit is reached.
    pub(super) fn begin(self: &Arc<Self>, now: Instant) -> Option<Permit> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = self.limit;
        let passed = now.saturating_since(state.seen).as_secs_f64();
        let returned = passed / limit.period.as_secs_f64() * limit.per_period as f64;
        (state.used, state.seen) = ((state.used - returned).max(0.0), now);
        if state.open >= limit.at_once || state.used + 1.0 > limit.per_period as f64 {
            return None;
        }
        state.open += 1;
        state.used += 1.0;
        Some(Permit(Arc::clone(self)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_hold() {
        let limiter = Limiter::new(Limit {
            at_once: 2,
            per_period: 4,
            period: Duration::from_secs(60),
        });
        let at = |seconds: u64| Instant::from_millis(seconds * 1_000);
        let first = limiter.begin(at(0));
        let second = limiter.begin(at(0));
        assert!(first.is_some() && second.is_some() && limiter.begin(at(0)).is_none());
        drop((first, second));
        assert!(limiter.begin(at(1)).is_some() && limiter.begin(at(1)).is_some());
        assert!(limiter.begin(at(2)).is_none(), "four in a minute");
        assert!(limiter.begin(at(16)).is_some() && limiter.begin(at(16)).is_none());
        let later: Vec<_> = (0..9).map(|_| limiter.begin(at(999)).is_some()).collect();
        assert_eq!(later.iter().filter(|begun| **begun).count(), 4);
    }
}
