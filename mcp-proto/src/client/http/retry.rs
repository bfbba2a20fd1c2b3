//! Attempts to request again what was refused or broke off, and the delays before them.

use core::time::Duration;

/// Attempts in a row, and what the server said of their pace (SC-13, SC-29).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    attempts: u32,
    /// The last `retry` of the stream.
    said: Option<Duration>,
    /// The delay that `Retry-After` asked for: it counts for the next attempt alone.
    pause: Duration,
}

impl Backoff {
    /// The server sent something: a new row begins.
    pub(super) const fn succeeded(&mut self) {
        self.attempts = 0;
    }

    pub(super) const fn set_retry(&mut self, retry: Option<Duration>) {
        if let Some(retry) = retry {
            self.said = Some(if retry.as_millis() < SOONEST.as_millis() {
                SOONEST
            } else {
                retry
            });
        }
    }

    pub(super) fn pause(&mut self, pause: Duration) {
        self.pause = pause.min(LONGEST);
    }

    /// Returns the delay before the next attempt; `None` after too many of them.
    ///
    /// The server's delay is kept to the millisecond the first time: the server closed the stream
    /// to be asked then. Everything else waits up to a quarter longer, so that the clients of one
    /// server do not come back at once.
    pub(super) fn next(&mut self, jitter: u32) -> Option<Duration> {
        if self.attempts >= ATTEMPTS {
            return None;
        }
        let attempt = self.attempts;
        self.attempts += 1;
        let floor = self.said.unwrap_or_default().min(LONGEST);
        if attempt == 0 && self.said.is_some() && self.pause <= floor {
            return Some(floor);
        }
        let doubled = FIRST.saturating_mul(1 << attempt.min(16)).min(CAP);
        Some(spread(doubled.max(floor).max(self.pause), jitter))
    }

    /// Returns the delay before the next attempt of a background stream: attempts are unlimited, at
    /// a slow pace after too many of them.
    pub(super) fn next_without_end(&mut self, jitter: u32) -> Duration {
        let floor = self.said.unwrap_or_default().min(LONGEST).max(self.pause);
        self.next(jitter)
            .unwrap_or_else(|| spread(SLOW.max(floor), jitter))
    }
}

/// Up to a quarter longer, in 65,536 steps.
fn spread(whole: Duration, jitter: u32) -> Duration {
    let share = (whole / 4).saturating_mul(jitter >> 16) / (1 << 16);
    whole.saturating_add(share)
}

/// A stream that stood so long was no failed attempt, even if nothing came.
pub(super) const STEADY: Duration = SLOW;

/// In a row; with the delays below about two minutes.
const ATTEMPTS: u32 = 8;
/// Without a delay from the server (SC-29).
const FIRST: Duration = Duration::from_secs(1);
const CAP: Duration = Duration::from_secs(30);
/// For a server that is gone for long: short enough to receive changes soon, long enough for
/// thousands of clients of one server.
const SLOW: Duration = Duration::from_secs(60);
/// The shortest delay that a server can ask for: one that ends each stream at once must not keep us
/// busy.
const SOONEST: Duration = Duration::from_millis(100);
/// The longest delay that a server can ask for: no call waits longer.
pub(super) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Returns true if another attempt may find the server in a better state.
pub(super) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..600)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn delays(said: Option<u64>, jitter: u32) -> Vec<u64> {
        let mut backoff = Backoff::default();
        backoff.set_retry(said.map(Duration::from_millis));
        backoff.set_retry(None);
        let delays = core::iter::from_fn(|| backoff.next(jitter));
        delays.map(|delay| delay.as_millis() as u64).collect()
    }

    #[test]
    fn delays_double_and_obey_the_server() {
        let plain = [1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000];
        assert_eq!(delays(None, 0), plain);
        assert_eq!(
            delays(Some(500), 0),
            [500, 2000, 4000, 8000, 16000, 30000, 30000, 30000]
        );
        assert_eq!(delays(Some(0), 0)[..2], [100, 2000]);
        assert_eq!(delays(Some(40_000), 0), [40_000; 8]);
        assert_eq!(delays(Some(u64::MAX), 0), [3_600_000; 8]);
        for (least, most) in plain.into_iter().zip(delays(None, u32::MAX)) {
            assert!(least < most && most <= least + least / 4, "{most}");
        }
        assert_eq!(delays(Some(500), u32::MAX)[0], 500);
    }

    #[test]
    fn what_nobody_waits_for_is_tried_for_ever() {
        let delays = |said, jitter| {
            let mut backoff = Backoff::default();
            backoff.set_retry(said);
            let delays = (0..100).map(|_| backoff.next_without_end(jitter).as_secs());
            delays.skip(7).collect::<Vec<_>>()
        };
        let [first, rest @ ..] = &*delays(None, 0) else {
            panic!("there is an end");
        };
        assert_eq!(*first, 30);
        assert!(rest.iter().all(|delay| *delay == 60));
        assert!(
            delays(None, u32::MAX)
                .iter()
                .skip(1)
                .all(|delay| *delay == 74)
        );
        let said = Some(Duration::from_secs(90));
        assert!(delays(said, 0).iter().all(|delay| *delay == 90));
        let said = Some(Duration::MAX);
        assert!(delays(said, 0).iter().all(|delay| *delay == 3_600));
    }

    #[test]
    fn a_pause_counts_once() {
        let mut backoff = Backoff::default();
        backoff.set_retry(Some(Duration::from_secs(5)));
        for (pause, delay) in [(20, 20), (0, 5), (3, 5), (9_999, 3_600), (0, 16)] {
            backoff.pause(Duration::from_secs(pause));
            assert_eq!(backoff.next(0), Some(Duration::from_secs(delay)));
        }
        for (pause, delay) in [(0, 30), (0, 30), (0, 30), (90, 90), (0, 60)] {
            backoff.pause(Duration::from_secs(pause));
            let next = backoff.next_without_end(0);
            assert_eq!(next, Duration::from_secs(delay));
        }
    }

    #[test]
    fn what_arrives_begins_a_new_row() {
        let mut backoff = Backoff::default();
        for _ in 0..100 {
            assert_eq!(backoff.next(0), Some(FIRST));
            backoff.succeeded();
        }
    }
}
