//! Time as an argument: the core never reads a clock.

use core::ops::Add;
use core::time::Duration;

/// A moment in milliseconds since an epoch of the caller's choice.
///
/// The core only compares and adds, so any monotonic clock is suitable: the time since the start by
/// `std::time::Instant`, a SysTick counter, or a variable of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The caller's epoch.
    pub const ZERO: Self = Self(0);

    /// The last moment that can be expressed. A deadline there means never: nothing lies after
    /// it, so no later moment could be armed in its place.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the earliest of the moments that are set.
    #[inline]
    pub(crate) fn earliest(moments: [Option<Self>; 2]) -> Option<Self> {
        match moments {
            [Some(one), Some(other)] => Some(one.min(other)),
            [one, other] => one.or(other),
        }
    }

    /// Returns true if a deadline at this moment has passed by `now`; one at [`MAX`](Self::MAX)
    /// never has.
    pub(crate) const fn is_due(self, now: Self) -> bool {
        self.0 <= now.0 && self.0 < u64::MAX
    }

    /// The moment as a deadline to wait for.
    pub(crate) fn as_deadline(self) -> Option<Self> {
        (self < Self::MAX).then_some(self)
    }

    /// The time that passed since `earlier`; zero if `earlier` is not earlier.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates; a fraction of a millisecond rounds up, so that a deadline is never early and
/// whatever is armed with a positive duration lies at least one millisecond ahead.
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let up = u64::from(!duration.subsec_nanos().is_multiple_of(1_000_000));
        let millis = duration
            .as_secs()
            .saturating_mul(1_000)
            .saturating_add(u64::from(duration.subsec_millis()) + up);
        Self(self.0.saturating_add(millis))
    }
}
