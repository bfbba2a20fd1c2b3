//! Regular questions whether a legacy server is alive (LC-22).

use crate::ping::PingPolicy;
use crate::time::Instant;

/// ```text
///   Off -- connected --> Resting -- interval --> Owed -- written --> Sent
///                           ^                      |                  |
///                           `------ answer, timeout (a miss) ---------'
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) enum Ping {
    /// None are sent.
    Off,
    /// Until the next one.
    Resting { until: Instant },
    /// Due, and not written yet; a pipe that takes nothing is a miss, too.
    Owed { id: u64, until: Instant },
    /// Unanswered.
    Sent { id: u64, until: Instant },
}

/// What time did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// Nothing.
    None,
    /// A ping is to be sent, under an id that the caller makes.
    Due,
    /// One was not answered.
    Missed,
}

impl Ping {
    pub(super) fn rest(policy: Option<PingPolicy>, now: Instant) -> Self {
        match policy {
            Some(policy) => Self::Resting {
                until: now + policy.interval.max(LEAST),
            },
            None => Self::Off,
        }
    }

    pub(super) fn owe(policy: PingPolicy, id: u64, now: Instant) -> Self {
        Self::Owed {
            id,
            until: now + policy.timeout.max(LEAST),
        }
    }

    pub(super) fn beat(self, now: Instant) -> Beat {
        match self {
            Self::Resting { until } if until.is_due(now) => Beat::Due,
            Self::Owed { until, .. } | Self::Sent { until, .. } if until.is_due(now) => {
                Beat::Missed
            }
            _ => Beat::None,
        }
    }

    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Off => None,
            Self::Resting { until } | Self::Owed { until, .. } | Self::Sent { until, .. } => {
                until.as_deadline()
            }
        }
    }

    /// Whether `id` is that of the unanswered ping.
    pub(super) fn awaits(self, id: u64) -> bool {
        matches!(self, Self::Sent { id: sent, .. } if sent == id)
    }
}

/// Whatever is armed lies ahead.
const LEAST: core::time::Duration = core::time::Duration::from_millis(1);
