//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use mcp_auth::UnixTime;

/// The time of day. It is read each time, because a monotonic clock may stop while the machine
/// sleeps.
pub(super) fn unix_now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixTime::from_secs(since.map_or(0, |since| since.as_secs()))
}
