//! The monotonic clock of the system as time of the core.
//!
//! On Linux it runs while the machine sleeps (`CLOCK_BOOTTIME`), elsewhere as the clock of the standard library
//! does: there a sleep may not count.

use core::time::Duration;
use std::sync::OnceLock;

use mcp_proto::Instant;

/// The present moment: milliseconds since the first call in this process.
pub fn now() -> Instant {
    let elapsed = Epoch::get().elapsed().as_millis();
    Instant::from_millis(u64::try_from(elapsed).unwrap_or(u64::MAX))
}

/// Converts a moment to one of the standard library, and so of a runtime's timers; `None` for one
/// that is too far in the future to represent.
///
/// Those timers may not count the sleep of a machine: one that was armed before it fires later.
pub fn moment(at: Instant) -> Option<std::time::Instant> {
    let epoch = Epoch::get();
    // In whole seconds, so that the same moment does not move while the machine is awake.
    let slept = epoch.elapsed().saturating_sub(epoch.standard.elapsed());
    let since = Duration::from_millis(at.as_millis());
    let since = since.saturating_sub(Duration::from_secs(slept.as_secs()));
    epoch.standard.checked_add(since)
}

/// The time at which the process read the clock first.
struct Epoch {
    standard: std::time::Instant,
    #[cfg(target_os = "linux")]
    boot: Duration,
}

impl Epoch {
    fn get() -> &'static Self {
        static EPOCH: OnceLock<Epoch> = OnceLock::new();
        EPOCH.get_or_init(|| Self {
            // First, so that the time is never behind the timers.
            #[cfg(target_os = "linux")]
            boot: boot_time(),
            standard: std::time::Instant::now(),
        })
    }

    /// The time since then, the sleep of the machine included where that is known.
    fn elapsed(&self) -> Duration {
        #[cfg(target_os = "linux")]
        return boot_time().saturating_sub(self.boot);
        #[cfg(not(target_os = "linux"))]
        self.standard.elapsed()
    }
}

#[cfg(target_os = "linux")]
fn boot_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_standard_library() {
        let at = now() + Duration::from_secs(100);
        let moment = moment(at).unwrap();
        let ahead = moment.saturating_duration_since(std::time::Instant::now());
        assert!(ahead > Duration::from_secs(50) && ahead <= Duration::from_secs(101));
        assert_eq!(super::moment(at), Some(moment), "it does not move");
    }
}
