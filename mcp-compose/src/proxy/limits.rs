//! The bounds of a proxy.

use core::time::Duration;

/// The bounds of what callers can make a [`Proxy`](super::Proxy) hold.
///
/// Each session of a program is a process of its own. What is beyond a bound is refused with an error that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyLimits {
    /// The sessions with servers, 1,000 by default. Those for lists count, and are opened even if there are so many.
    pub sessions: usize,
    /// The sessions for one caller, 16 by default. Callers without a principal are one. Sessions that callers share do not count.
    pub sessions_per_caller: usize,
    /// The sessions that are opened for one caller within a minute, 60 by default.
    pub starts_per_minute: usize,
    /// The time after which a session without a call ends, 5 minutes by default. A session that callers share lasts at least for
    /// `held_time`. A session in which a server made a task lasts at least as long as the task, but for that at most a day after
    /// the last request about it.
    pub idle: Duration,
    /// The calls that wait for an answer of a caller of 2026-07-28, 1,000 by default.
    pub held_calls: usize,
    /// The time that such a call waits, 5 minutes by default. Then it is cancelled.
    pub held_time: Duration,
    /// The time that a server has to answer a request, an hour by default. The time of the caller is its own, and a caller that
    /// gives up cancels the request. A session is kept for this time for a task without a `ttlMs`.
    pub call_time: Duration,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            sessions: 1_000,
            sessions_per_caller: 16,
            starts_per_minute: 60,
            idle: Duration::from_secs(5 * 60),
            held_calls: 1_000,
            held_time: Duration::from_secs(5 * 60),
            call_time: Duration::from_secs(60 * 60),
        }
    }
}
