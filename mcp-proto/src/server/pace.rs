//! The timers of one request: the rate of its reports of progress, the newest of which is held, and
//! its time limit.

#[cfg(feature = "alloc")]
use alloc::{boxed::Box, string::String};
use core::time::Duration;

use crate::time::Instant;

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgressReport<'a> {
    /// More than the time before; any unit.
    pub progress: f64,
    /// The value of `progress` at the end, if it is known.
    pub total: Option<f64>,
    /// A message for people (PG-05). 2024-11-05 has none: there it is left out.
    pub message: Option<&'a str>,
}

impl ProgressReport<'_> {
    /// A value and nothing else.
    pub const fn new(progress: f64) -> Self {
        Self {
            progress,
            total: None,
            message: None,
        }
    }
}

/// The pace of the progress messages of one request: [`BURST`] messages at once, then one in each
/// interval. The newest report that is too early is held back.
///
/// Without an allocator every report leaves at once, so a program that reports none links nothing
/// of this.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// The time by which the messages so far would have been sent if all of them had kept the
    /// interval.
    #[cfg(feature = "alloc")]
    even: Instant,
    /// Few requests ever hold anything back.
    #[cfg(feature = "alloc")]
    held: Option<Box<Held>>,
}

/// The time at which a request is reported as overdue. If no report is held back, it is the only deadline of the slot of the request.
#[derive(Clone, Debug)]
pub(super) struct TimeLimit {
    /// [`Instant::MAX`] for never.
    #[cfg(feature = "alloc")]
    until: Instant,
}

impl Pace {
    /// Nothing was reported yet.
    pub(super) const NEW: Self = Self {
        #[cfg(feature = "alloc")]
        even: Instant::ZERO,
        #[cfg(feature = "alloc")]
        held: None,
    };
}

impl TimeLimit {
    /// The request is never overdue.
    pub(super) const NONE: Self = Self {
        #[cfg(feature = "alloc")]
        until: Instant::MAX,
    };
}

#[cfg(feature = "alloc")]
impl TimeLimit {
    pub(super) const fn set(&mut self, until: Instant) {
        self.until = until;
    }

    /// Returns the deadline of the slot of a request whose held report, if any, may leave at `report`; `None` if it stays.
    pub(super) fn deadline(&self, report: Option<Instant>) -> Option<Option<Instant>> {
        Some(Instant::earliest([report, self.until.as_deadline()]))
    }

    /// Returns, once, whether the request is overdue since a deadline that has just passed.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_due = self.until.as_deadline().is_some_and(|due| due <= now);
        if is_due {
            self.until = Instant::MAX;
        }
        is_due
    }
}

#[cfg(feature = "alloc")]
impl Pace {
    pub(super) fn is_early(&self, now: Instant, interval: Duration) -> bool {
        !interval.is_zero() && self.even > now + ahead(interval)
    }

    pub(super) fn take(&mut self, now: Instant, interval: Duration) {
        self.even = self.even.max(now) + interval;
    }

    /// Returns the time from which the next message may be sent.
    pub(super) fn next(&self, interval: Duration) -> Instant {
        let ahead = Instant::ZERO + ahead(interval);
        Instant::from_millis(self.even.as_millis().saturating_sub(ahead.as_millis()))
    }

    /// Holds a report back in place of an older one; returns whether it is the first.
    pub(super) fn hold(&mut self, progress: ProgressReport<'_>) -> bool {
        match &mut self.held {
            Some(held) => held.replace(progress),
            none => {
                *none = Some(Box::new(Held {
                    total: progress.total,
                    message: progress.message.map(Into::into),
                }));
                return true;
            }
        }
        false
    }

    pub(super) const fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// The report that is held back, of this value.
    pub(super) fn held(&self, progress: f64) -> Option<ProgressReport<'_>> {
        self.held.as_ref().map(|held| ProgressReport {
            progress,
            total: held.total,
            message: held.message.as_deref(),
        })
    }

    pub(super) fn clear(&mut self) {
        self.held = None;
    }
}

#[cfg(not(feature = "alloc"))]
impl TimeLimit {
    pub(super) const fn set(&mut self, _: Instant) {}

    pub(super) const fn deadline(&self, _: Option<Instant>) -> Option<Option<Instant>> {
        None
    }

    pub(super) const fn take(&mut self, _: Instant) -> bool {
        true
    }
}

#[cfg(not(feature = "alloc"))]
impl Pace {
    pub(super) const fn is_early(&self, _: Instant, _: Duration) -> bool {
        false
    }

    pub(super) const fn take(&mut self, _: Instant, _: Duration) {}

    pub(super) const fn next(&self, _: Duration) -> Instant {
        Instant::ZERO
    }

    pub(super) const fn hold(&mut self, _: ProgressReport<'_>) -> bool {
        false
    }

    pub(super) const fn is_holding(&self) -> bool {
        false
    }

    pub(super) const fn held(&self, _: f64) -> Option<ProgressReport<'_>> {
        None
    }

    pub(super) const fn clear(&mut self) {}
}

#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
struct Held {
    total: Option<f64>,
    message: Option<String>,
}

#[cfg(feature = "alloc")]
impl Held {
    fn replace(&mut self, progress: ProgressReport<'_>) {
        self.total = progress.total;
        match (&mut self.message, progress.message) {
            (Some(kept), Some(message)) => {
                kept.clear();
                kept.push_str(message);
            }
            (kept, message) => *kept = message.map(Into::into),
        }
    }
}

#[cfg(feature = "alloc")]
const fn ahead(interval: Duration) -> Duration {
    interval.saturating_mul(BURST - 1)
}

/// So many messages leave at once: a handler with a few steps reports each of them.
#[cfg(feature = "alloc")]
const BURST: u32 = 32;
