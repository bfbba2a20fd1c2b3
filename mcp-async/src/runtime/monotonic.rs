//! The monotonic clock of the standard library as time of the core.

use core::time::Duration;
use std::sync::OnceLock;

use mcp_proto::Instant;

/// The present moment: milliseconds since the first call in this process.
pub fn now() -> Instant {
    let elapsed = epoch().elapsed().as_millis();
    Instant::from_millis(u64::try_from(elapsed).unwrap_or(u64::MAX))
}

/// The same moment for the standard library, and so for a runtime's timers; `None` for one that
/// is too far in the future to represent.
pub fn moment(at: Instant) -> Option<std::time::Instant> {
    epoch().checked_add(Duration::from_millis(at.as_millis()))
}

fn epoch() -> std::time::Instant {
    static EPOCH: OnceLock<std::time::Instant> = OnceLock::new();
    *EPOCH.get_or_init(std::time::Instant::now)
}
