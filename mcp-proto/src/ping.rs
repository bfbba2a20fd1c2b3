//! How often a peer is asked whether it is there.

use core::time::Duration;

/// How often the peer of a legacy session is asked whether it is there (LC-22), by either role.
///
/// Nothing is asked in 2026-07-28, which has no ping. Durations count in whole milliseconds, and
/// less than one counts as one.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::PingPolicy;
///
/// let policy = PingPolicy { interval: Duration::from_secs(60), ..PingPolicy::default() };
/// assert_eq!(policy.misses, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPolicy {
    /// From one answer to the next ping.
    pub interval: Duration,
    /// How long one ping may stay unanswered before it counts as a miss.
    pub timeout: Duration,
    /// After so many misses in a row the connection is closed.
    pub misses: u32,
}

impl Default for PingPolicy {
    /// Every 30 s, 10 s to answer, closed after 3 misses.
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            misses: 3,
        }
    }
}
