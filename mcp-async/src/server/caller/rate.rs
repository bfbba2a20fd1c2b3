//! Rate limits.

use core::time::Duration;
use std::collections::HashMap;

use mcp_proto::Instant;

use crate::sync::Lock;

/// So many in so long a time, on average: a bucket that begins full, from which each use takes
/// one, and which fills up again evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    count: u32,
    per: Duration,
    burst: u32,
}

/// The rate limits of each connection by itself; none is set by default. A
/// request beyond a limit is answered with -32603, and a log message is dropped.
///
/// Over HTTP a legacy session is a connection. Requests that belong to none, as all of
/// 2026-07-28, share the limits with those of the same principal, or of all who have none; only
/// log messages are counted for each request.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::Server;
/// use mcp_async::server::{RateLimit, RateLimits};
///
/// let server = Server::builder("demo", "1.0").rate_limits(RateLimits {
///     calls: Some(RateLimit::new(600, Duration::from_secs(60))),
///     completions: Some(RateLimit::new(20, Duration::from_secs(1))),
///     ..RateLimits::default()
/// });
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Calls of each tool; a [`Tool`](crate::server::Tool) may have a limit of its own instead.
    pub calls: Option<RateLimit>,
    /// Completions, all together.
    pub completions: Option<RateLimit>,
    /// Log messages, all together.
    pub logs: Option<RateLimit>,
}

impl RateLimit {
    /// So many in so long a time, and as many at once.
    pub const fn new(count: u32, per: Duration) -> Self {
        Self {
            count,
            per,
            burst: count,
        }
    }

    /// At most so many at once.
    #[must_use]
    pub const fn burst(mut self, burst: u32) -> Self {
        self.burst = burst;
        self
    }

    /// Returns the amount that one use takes out of a bucket, which gains `count` in each
    /// microsecond.
    fn price(self) -> u64 {
        u64::try_from(self.per.as_micros()).unwrap_or(u64::MAX)
    }

    fn capacity(self) -> u64 {
        self.price().saturating_mul(u64::from(self.burst))
    }
}

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
        let passed = now.saturating_since(self.filled).as_micros();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        self.filled = now;
        self.level = self
            .level
            .saturating_add(passed.saturating_mul(u64::from(self.limit.count)))
            .min(self.limit.capacity());
        self.limit.burst > 0 && self.level >= self.limit.price()
    }

    fn is_full(&mut self, now: Instant) -> bool {
        self.holds(now);
        self.level >= self.limit.capacity()
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let taken = self.holds(now);
        if taken {
            self.level = self.level.saturating_sub(self.limit.price());
        }
        taken
    }
}

/// The remaining uses of the limits of one connection, or of all exchanges that stand for
/// themselves: by the principal, and by the name of the tool or method.
#[derive(Default)]
pub(crate) struct Buckets(Lock<HashMap<String, Bucket>>);

impl Buckets {
    /// Takes one out of a bucket.
    pub(in crate::server) fn take(
        &self,
        principal: Option<&str>,
        name: &str,
        limit: RateLimit,
        now: Instant,
    ) -> bool {
        let mut all = self.0.lock();
        let named;
        let key = match principal {
            Some(principal) => {
                named = format!("{principal}\n{name}");
                &named
            }
            None => name,
        };
        // A tool that took the place of another may have another limit.
        if let Some(bucket) = all.get_mut(key).filter(|bucket| bucket.limit == limit) {
            return bucket.take(now);
        }
        if all.len() >= BUCKETS {
            // A full one is as good as none.
            all.retain(|_, bucket| !bucket.is_full(now));
        }
        let mut new = Bucket::new(limit, now);
        let taken = new.take(now);
        all.insert(key.to_owned(), new);
        taken
    }
}

/// Buckets that are kept before those that are full are let go.
const BUCKETS: usize = 4096;

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
}
