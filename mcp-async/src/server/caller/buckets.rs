//! The remaining uses of rate limits.

use core::hash::Hash;
use core::mem;
use core::time::Duration;
use std::collections::HashMap;

use mcp_proto::Instant;

use super::rate::RateLimit;
use crate::sync::Lock;

/// The remaining uses of a [`RateLimit`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    limit: RateLimit,
    /// `level <= limit.capacity()`.
    level: u64,
    filled: Instant,
}

impl Bucket {
    pub(in crate::server) fn new(limit: RateLimit, now: Instant) -> Self {
        Self {
            limit,
            level: limit.capacity(),
            filled: now,
        }
    }

    /// Returns true if there is one left.
    pub(crate) fn holds(&mut self, now: Instant) -> bool {
        self.fill(now);
        self.limit.burst > 0 && self.level >= self.price(1)
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        self.take_all(1, now).is_ok()
    }

    /// Takes so many, or none and returns the time until they can be taken. More than the burst never can.
    fn take_all(&mut self, uses: u32, now: Instant) -> Result<(), Duration> {
        self.fill(now);
        let price = self.price(uses);
        match self.level.checked_sub(price) {
            Some(level) if uses <= self.limit.burst => {
                self.level = level;
                Ok(())
            }
            _ => Err(self.limit.time_of(price.saturating_sub(self.level))),
        }
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_since(self.filled).as_micros();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        self.filled = now;
        self.level = self
            .level
            .saturating_add(passed.saturating_mul(u64::from(self.limit.count)))
            .min(self.limit.capacity());
    }

    fn price(&self, uses: u32) -> u64 {
        self.limit.price().saturating_mul(u64::from(uses))
    }
}

/// Buckets by a key: of the limits of one connection, or of the callers of an endpoint.
///
/// Their number is bounded. A bucket that no use was taken from for as long as the slowest of them fills is full, and as
/// good as none: two generations of buckets take turns when that time is over, and the one that was not used any more is
/// dropped. They take turns earlier when one generation is as large as it may be; then callers whose last use is the
/// longest ago begin with a full bucket again.
pub(crate) struct Buckets<K>(Lock<Generations<K>>);

struct Generations<K> {
    /// Those that were used since the last turn.
    recent: HashMap<K, Bucket>,
    /// Those that were last used between the last turn and the one before.
    earlier: HashMap<K, Bucket>,
    /// The time of the last turn.
    turned: Instant,
    /// The longest time in which a bucket fills.
    fills_in: Duration,
}

impl<K: Eq + Hash> Buckets<K> {
    /// Takes so many uses out of the bucket of this key, or none and returns the time until they can be taken.
    pub(crate) fn take(
        &self,
        key: K,
        limit: RateLimit,
        uses: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut all = self.0.lock();
        all.turn(now);
        // Another limit: a tool took the place of another.
        let known = |bucket: &&mut Bucket| bucket.limit == limit;
        if let Some(bucket) = all.recent.get_mut(&key).filter(known) {
            return bucket.take_all(uses, now);
        }
        let earlier = all.earlier.remove(&key);
        let mut bucket = earlier
            .filter(|bucket| bucket.limit == limit)
            .unwrap_or_else(|| Bucket::new(limit, now));
        let taken = bucket.take_all(uses, now);
        let fills_in = limit.time_of(limit.capacity());
        all.fills_in = all.fills_in.max(fills_in);
        all.recent.insert(key, bucket);
        taken
    }
}

impl<K: Eq + Hash> Generations<K> {
    fn turn(&mut self, now: Instant) {
        if self.recent.len() < GENERATION && now.saturating_since(self.turned) < self.fills_in {
            return;
        }
        self.turned = now;
        mem::swap(&mut self.recent, &mut self.earlier);
        self.recent.clear();
        self.recent.shrink_to(KEPT);
    }
}

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Self(Lock::new(Generations {
            recent: HashMap::new(),
            earlier: HashMap::new(),
            turned: Instant::ZERO,
            fills_in: Duration::ZERO,
        }))
    }
}

/// The most buckets of one generation.
const GENERATION: usize = 4096;
/// The capacity that a generation keeps: few callers allocate nothing.
const KEPT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_its_limit_says() {
        let limit = RateLimit::new(4, Duration::from_secs(2)).burst(3);
        let mut now = Instant::ZERO;
        let mut bucket = Bucket::new(limit, now);
        let mut check = |after: u64, expected: &[bool]| {
            now = now + Duration::from_millis(after);
            for expected in expected {
                assert_eq!(bucket.take(now), *expected, "at {now:?}");
            }
        };
        check(0, &[true, true, true, false]);
        check(499, &[false]);
        check(1, &[true, false]);
        check(250, &[false]);
        check(250, &[true, false]);
        check(60_000, &[true, true, true, false]);
    }

    #[test]
    fn extremes_are_limits_too() {
        let now = Instant::ZERO;
        for limit in [
            RateLimit::new(0, Duration::from_secs(1)),
            RateLimit::new(5, Duration::from_secs(1)).burst(0),
            RateLimit::new(0, Duration::ZERO),
        ] {
            let mut bucket = Bucket::new(limit, now);
            assert!(!bucket.take(now + Duration::MAX), "{limit:?}");
        }
        let mut short = Bucket::new(RateLimit::new(1, Duration::from_micros(500)), now);
        assert!(short.take(now));
        assert!(!short.take(now), "less than a millisecond is a time too");
        let limit = RateLimit::new(u32::MAX, Duration::MAX);
        assert!(Bucket::new(limit, now).take(now));
    }

    #[test]
    fn all_uses_are_taken_or_none() {
        let limit = RateLimit::new(2, Duration::from_secs(1)).burst(5);
        let mut bucket = Bucket::new(limit, Instant::ZERO);
        let mut check = |at: u64, uses: u32, wait: Option<u64>| {
            let taken = bucket.take_all(uses, Instant::ZERO + Duration::from_millis(at));
            assert_eq!(taken.err(), wait.map(Duration::from_millis), "{uses}");
        };
        check(0, 3, None);
        check(0, 3, Some(500));
        check(0, 2, None);
        check(0, 1, Some(500));
        check(250, 1, Some(250));
        check(10_000, 6, Some(500));
        check(10_000, 5, None);
    }

    fn kept(buckets: &Buckets<u32>) -> usize {
        let all = buckets.0.lock();
        all.recent.len() + all.earlier.len()
    }

    #[test]
    fn buckets_that_are_not_used_leave_and_the_others_stay() {
        let limit = RateLimit::new(1, Duration::from_secs(1)).burst(10);
        let buckets = Buckets::default();
        let takes = |key, seconds| {
            let now = Instant::ZERO + Duration::from_secs(seconds);
            buckets.take(key, limit, 1, now).is_ok()
        };
        for key in 0..1_000 {
            assert!(takes(key, 10));
        }
        // One is used all the time, and has no more than its limit.
        let taken = (0..1_000).filter(|_| takes(7, 10)).count();
        assert_eq!(taken, 9);
        let taken = (11..50).filter(|second| takes(7, *second)).count();
        assert_eq!((taken, kept(&buckets)), (39, 1));
    }

    #[test]
    fn any_number_of_keys_takes_bounded_room() {
        let limit = RateLimit::new(1, Duration::from_secs(3_600));
        let buckets = Buckets::default();
        for key in 0..100_000 {
            assert!(buckets.take(key, limit, 1, Instant::ZERO).is_ok());
            assert!(kept(&buckets) <= 2 * GENERATION);
        }
        assert!(buckets.take(99_999, limit, 1, Instant::ZERO).is_err());
    }
}
