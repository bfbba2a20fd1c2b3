//! The bounds of an HTTP endpoint.

use core::time::Duration;

/// The bounds of one HTTP endpoint, which its adapter enforces. Those of each connection behind it
/// are [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// The longest request body in bytes.
    pub body: usize,
    /// The number of legacy sessions that may exist at the same time.
    pub sessions: usize,
    /// The time after which an unused legacy session ends.
    pub session_idle: Duration,
    /// The time within which the head of a request has to arrive.
    pub head: Duration,
}

impl HttpLimits {
    /// The default values: 4 MiB, 10,000 sessions, 30 minutes, 30 seconds.
    pub const DEFAULT: Self = Self {
        body: 4 << 20,
        sessions: 10_000,
        session_idle: Duration::from_secs(30 * 60),
        head: Duration::from_secs(30),
    };
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
