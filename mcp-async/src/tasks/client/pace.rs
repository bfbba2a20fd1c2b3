//! The pauses between two polls of a task.

use core::hash::BuildHasher;
use core::time::Duration;
use std::hash::RandomState;

/// Begins at the server's interval, and grows when nothing changes (TK-37, TK-62).
pub(super) struct Pace {
    interval: Duration,
    longest: Duration,
    /// Polls in a row that brought nothing new.
    unchanged: u32,
    /// Polls in a row that failed.
    failures: u32,
    random: RandomState,
    drawn: u64,
}

impl Pace {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            interval: WITHOUT_INTERVAL,
            longest,
            unchanged: 0,
            failures: 0,
            random: RandomState::new(),
            drawn: 0,
        }
    }

    /// The interval that the server stated last, if it states one.
    pub(super) fn set_interval(&mut self, interval: Option<Duration>) {
        let interval = interval.unwrap_or(WITHOUT_INTERVAL);
        self.interval = interval.clamp(SHORTEST, LONGEST);
    }

    /// The least time between two polls.
    pub(super) const fn interval(&self) -> Duration {
        self.interval
    }

    /// A poll brought something new, or something happened that will.
    pub(super) const fn changed(&mut self) {
        self.unchanged = 0;
        self.failures = 0;
    }

    pub(super) const fn unchanged(&mut self) {
        self.unchanged = self.unchanged.saturating_add(1);
        self.failures = 0;
    }

    /// Returns the time to wait before the next poll. It is never shorter than the interval, and up to a
    /// tenth longer, so that many clients do not poll at once.
    pub(super) fn pause(&mut self) -> Duration {
        let mut pause = self.interval;
        let bound = pause.saturating_mul(GROWTH).min(self.longest).max(pause);
        for _ in STEADY..self.unchanged.min(STEADY + GROWTH) {
            pause = (pause + pause / 2).min(bound);
        }
        self.with_jitter(pause)
    }

    /// Returns the time to wait before the next poll while the server reports changes, which it may
    /// fail to do.
    pub(super) fn pause_while_told(&mut self) -> Duration {
        self.with_jitter(self.longest.max(self.interval))
    }

    /// Returns the time to wait after a poll that failed; `None` after too many in a row.
    pub(super) fn failed(&mut self) -> Option<Duration> {
        if self.failures >= ATTEMPTS {
            return None;
        }
        let doubled = AFTER_FAILURE.saturating_mul(1 << self.failures);
        self.failures += 1;
        let pause = doubled.min(self.longest).max(self.interval);
        Some(self.with_jitter(pause))
    }

    fn with_jitter(&mut self, pause: Duration) -> Duration {
        self.drawn = self.drawn.wrapping_add(1);
        let share = u32::try_from(self.random.hash_one(self.drawn) % 101).unwrap_or(0);
        pause.saturating_add(pause / 1000 * share)
    }
}

/// No server is polled more often.
const SHORTEST: Duration = Duration::from_millis(20);
/// No interval is taken to be longer: a call without a time limit would never end.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// Of a server that states no interval.
const WITHOUT_INTERVAL: Duration = Duration::from_secs(1);
/// Polls without a change before the pauses grow.
const STEADY: u32 = 4;
/// The pauses grow to so many intervals at most.
const GROWTH: u32 = 8;
/// The first pause after a failure, which doubles.
const AFTER_FAILURE: Duration = Duration::from_millis(250);
/// Failures in a row that are passed over: more than two minutes.
const ATTEMPTS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pause: Duration, milliseconds: u64) {
        let whole = Duration::from_millis(milliseconds);
        assert!(whole <= pause && pause <= whole * 11 / 10, "{pause:?}");
    }

    #[test]
    fn tk_62_pauses_grow_when_nothing_changes() {
        let mut pace = Pace::new(Duration::from_secs(30));
        check(pace.pause(), 1000);
        pace.set_interval(Some(Duration::from_millis(3)));
        check(pace.pause(), 20);
        pace.set_interval(Some(Duration::from_millis(100)));
        for expected in [100, 100, 100, 100, 100, 150, 225] {
            check(pace.pause(), expected);
            pace.unchanged();
        }
        for _ in 0..1000 {
            pace.unchanged();
        }
        check(pace.pause(), 800);
        pace.changed();
        check(pace.pause(), 100);
        // The longest pause is not below the server's interval.
        pace.set_interval(Some(Duration::from_secs(40)));
        (0..9).for_each(|_| pace.unchanged());
        check(pace.pause(), 40_000);
        pace.set_interval(Some(Duration::from_secs(8)));
        check(pace.pause(), 30_000);
    }

    #[test]
    fn failures_end() {
        let mut pace = Pace::new(Duration::from_secs(30));
        pace.set_interval(Some(Duration::from_millis(300)));
        for expected in [
            300, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
        ] {
            check(pace.failed().unwrap(), expected);
        }
        assert_eq!(pace.failed(), None);
        pace.unchanged();
        check(pace.failed().unwrap(), 300);
        pace.set_interval(Some(Duration::MAX));
        check(pace.pause(), 3_600_000);
    }
}
