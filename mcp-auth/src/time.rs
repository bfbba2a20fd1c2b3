//! Absolute time, as in JSON Web Tokens and stored credentials.

use serde::{Deserialize, Serialize};

/// A moment in seconds since 1970-01-01 00:00:00 UTC.
///
/// Lifetimes of tokens survive a restart and are compared with claims of other machines, so they
/// need the time of day; [`Instant`](mcp_proto::Instant) has an epoch of the caller's choice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct UnixTime(u64);

impl UnixTime {
    /// The moment `seconds` after 1970-01-01 00:00:00 UTC.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since 1970-01-01 00:00:00 UTC.
    pub const fn as_secs(self) -> u64 {
        self.0
    }

    /// The moment `seconds` later.
    pub const fn saturating_add(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// The moment `seconds` earlier.
    pub const fn saturating_sub(self, seconds: u64) -> Self {
        Self(self.0.saturating_sub(seconds))
    }
}
