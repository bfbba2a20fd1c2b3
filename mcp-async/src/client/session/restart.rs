//! Delays and limits of reconnections.

use core::hash::BuildHasher;
use core::time::Duration;
use std::hash::RandomState;

/// The policy for a client whose server has gone: the server is started again, or connected to
/// again.
///
/// Calls that were in flight end with [`CallError::ExitedEarly`](crate::client::CallError::ExitedEarly), or without a
/// child process with [`CallError::Closed`](crate::client::CallError::Closed), because it is not known how
/// far the server got with them; calls made after that wait for the new
/// connection. The log level and the subscriptions are restored there, and everything
/// that was cached is forgotten.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::client::RestartPolicy;
///
/// let policy = RestartPolicy::default().attempts(3).delays(Duration::from_millis(100), Duration::from_secs(5));
/// assert!(policy.delay(0) <= Duration::from_millis(100));
/// assert!(policy.delay(30) <= Duration::from_secs(5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    attempts: u32,
    first: Duration,
    longest: Duration,
    seed: u64,
}

impl RestartPolicy {
    /// Sets the number of failed attempts in a row after which it stops (default 5). A
    /// connection that lasts for as long as the longest delay begins a new row.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Waits for up to `first` before the first attempt and twice as long before each further
    /// one, up to `longest` (default 250 ms and 30 s).
    #[must_use]
    pub const fn delays(mut self, first: Duration, longest: Duration) -> Self {
        self.first = first;
        self.longest = longest;
        self
    }

    /// Draws the delays from this seed, the same ones each time; otherwise from one that the
    /// operating system gives.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns the time to wait before an attempt, counted from 0: between half of the delay and
    /// all of it, so that many clients of one server do not come back at once.
    pub fn delay(&self, attempt: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << attempt.min(30));
        let whole = doubled.min(self.longest);
        let half = whole / 2;
        let share = (scramble(self.seed.wrapping_add(u64::from(attempt))) >> 32) as u32;
        half + Duration::from_secs_f64(half.as_secs_f64() * f64::from(share) / f64::from(u32::MAX))
    }

    pub(in crate::client) const fn is_spent(&self, attempts: u32) -> bool {
        attempts >= self.attempts
    }

    pub(in crate::client) const fn steady(&self) -> Duration {
        self.longest
    }
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_millis(250),
            longest: Duration::from_secs(30),
            seed: RandomState::new().hash_one(0),
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
const fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_with_a_jitter_that_the_seed_gives() {
        let policy =
            RestartPolicy::default().delays(Duration::from_secs(1), Duration::from_secs(9));
        for seed in 0..100 {
            let policy = policy.clone().seed(seed);
            let mut whole = 1;
            for attempt in 0..40 {
                let delay = policy.delay(attempt);
                let most = Duration::from_secs(whole);
                assert!(most / 2 <= delay && delay <= most, "{attempt}: {delay:?}");
                whole = (2 * whole).min(9);
            }
            assert_eq!(policy.delay(3), policy.clone().delay(3));
        }
        assert_ne!(policy.clone().seed(1).delay(0), policy.seed(2).delay(0));
    }
}
