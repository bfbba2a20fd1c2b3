//! Rate limits, as a server sets them.

use core::time::Duration;

/// So many in so long a time, on average: a bucket that begins full, from which each use takes
/// one, and which fills up again evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub(super) count: u32,
    per: Duration,
    pub(super) burst: u32,
}

/// The rate limits of each connection by itself; none is set by default. A
/// request beyond a limit is answered with -32603, and a log message is dropped.
///
/// Over HTTP a legacy session is a connection. Requests that belong to none, as all of
/// 2026-07-28, share the limits with those of the same caller: its principal, else the address of its client, else all
/// who have neither; only log messages are counted for each request. A limit of all requests of a caller is
/// [`Http::rate_limit`](crate::http::Http::rate_limit), which is on by default.
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

    /// Returns true if nothing can be used.
    pub(crate) const fn is_zero(self) -> bool {
        self.count == 0 || self.burst == 0
    }

    /// Returns the amount that one use takes out of a bucket, which gains `count` in each
    /// microsecond.
    pub(super) fn price(self) -> u64 {
        u64::try_from(self.per.as_micros()).unwrap_or(u64::MAX)
    }

    pub(super) fn capacity(self) -> u64 {
        self.price().saturating_mul(u64::from(self.burst))
    }

    /// Returns the time in which a bucket that gains `count` in each microsecond gains this amount.
    pub(super) fn time_of(self, amount: u64) -> Duration {
        let micros = amount.div_ceil(u64::from(self.count.max(1)));
        Duration::from_micros(micros)
    }
}
