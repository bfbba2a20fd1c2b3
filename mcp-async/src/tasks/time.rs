//! Times as records and messages have them.

use core::ops::Range;
use core::time::Duration;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use mcp_proto::Instant;
use serde::{Serialize, Serializer};

/// Reads the time of day.
pub(crate) type ReadTime = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The time of day in milliseconds since 1970. It is read once; from then on the monotonic clock
/// counts, so that a clock that is set does not move the ends of tasks.
#[derive(Default)]
pub(crate) struct TimeOfDay(OnceLock<(u64, Instant)>);

impl TimeOfDay {
    pub(crate) fn now(&self, read: &ReadTime, now: Instant) -> u64 {
        let (read_at, instant) = self.0.get_or_init(|| (since_1970(read), now));
        let passed = now.saturating_since(*instant).as_millis();
        read_at.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

/// The time of day as it is read now, in milliseconds since 1970.
fn since_1970(read: &ReadTime) -> u64 {
    let since = read().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// A duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A time in ISO 8601, with milliseconds, of the years up to 9999.
pub(crate) struct IsoTime([u8; 24]);

impl IsoTime {
    /// Formats a time in milliseconds since 1970.
    pub(crate) fn new(millis: u64) -> Self {
        let millis = millis.min(LAST);
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // The calendar repeats every 400 years, of 146097 days; years are counted from March, so that
        // the day that some years lack is the last one.
        let shifted = days.saturating_add(719_468);
        let (era, day) = (shifted / 146_097, shifted % 146_097);
        let leaps = (day / 1_460).saturating_add(day / 146_096);
        let year = (day.saturating_add(day / 36_524).saturating_sub(leaps)) / 365;
        let day = day.saturating_sub(
            (365 * year)
                .saturating_add(year / 4)
                .saturating_sub(year / 100),
        );
        let from_march = (5 * day).saturating_add(2) / 153;
        let date = day
            .saturating_sub((153 * from_march).saturating_add(2) / 5)
            .saturating_add(1);
        let month = match from_march {
            0..10 => from_march.saturating_add(3),
            _ => from_march.saturating_sub(9),
        };
        let year = (era * 400)
            .saturating_add(year)
            .saturating_add(u64::from(month <= 2));
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        for (place, number) in [
            (0..4, year),
            (5..7, month),
            (8..10, date),
            (11..13, hour),
            (14..16, minute),
            (17..19, second),
            (20..23, millis),
        ] {
            write_digits(&mut text, place, number);
        }
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        // Digits and punctuation are ASCII.
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Serialize for IsoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Writes the last digits of a number, as many as there is place for.
fn write_digits(text: &mut [u8], place: Range<usize>, mut number: u64) {
    for digit in text.get_mut(place).unwrap_or_default().iter_mut().rev() {
        *digit = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or_default());
        number /= 10;
    }
}

/// The largest integer that every reader of JSON keeps exactly (TK-65).
pub(crate) const SAFE: u64 = (1 << 53) - 1;
/// The last millisecond of the year 9999.
const LAST: u64 = 253_402_300_799_999;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Lock;

    #[test]
    fn times_are_written_in_iso_8601() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_785_196_800_123, "2026-07-28T00:00:00.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(IsoTime::new(millis).as_str(), text);
        }
    }

    #[test]
    fn a_clock_that_is_set_changes_nothing() {
        let times = Arc::new(Lock::new(SystemTime::UNIX_EPOCH));
        let read: ReadTime = {
            let times = Arc::clone(&times);
            Arc::new(move || *times.lock())
        };
        let day = TimeOfDay::default();
        assert_eq!(day.now(&read, Instant::from_millis(5)), 0);
        *times.lock() += core::time::Duration::from_secs(3600);
        assert_eq!(day.now(&read, Instant::from_millis(7)), 2);
    }
}
