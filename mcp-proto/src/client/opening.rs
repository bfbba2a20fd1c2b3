//! The opening of a connection: probe and handshake.

use core::time::Duration;

use crate::revision::Revision;
use crate::time::Instant;

/// A connection that is not there yet.
///
/// ```text
///   accepted
///   both eras        discover --- DiscoverResult, -32020..-32022 ----------> Modern
///                       |  \                          ^
///       silence, or any |   `- the only common        | DiscoverResult while initialize is
///       other answer    |      revision is legacy     | unanswered, -32022 to initialize
///                       v            v                |
///   legacy only      initialize -----+----------------+--- InitializeResult --> Legacy
///   modern only      discover, without the way down
/// ```
///
/// `initialize` that was sent into the silence is never cancelled (CN-02, LC-09), and the probe
/// before it not either: whichever is answered first decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// `server/discover`.
    pub(super) probe: Leg,
    /// The revision that it speaks.
    pub(super) modern: Option<Revision>,
    /// `initialize`.
    pub(super) handshake: Leg,
    /// The revision that it offers.
    pub(super) legacy: Option<Revision>,
    /// The time at which a server that has not answered is sent an `initialize` as well.
    pub(super) silence: Option<Instant>,
    /// The time at which the connection attempt times out.
    pub(super) deadline: Instant,
    /// True if the server corrected our choice of a revision before: it may once.
    pub(super) corrected: bool,
}

/// One of the two requests that can open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Unused,
    Owed(u64),
    Sent(u64),
    Over,
}

impl Opening {
    /// One more handshake with a server that is known.
    pub(super) fn again(now: Instant, timeout: Duration, legacy: Revision, id: u64) -> Self {
        let mut opening = Self {
            probe: Leg::Unused,
            modern: None,
            handshake: Leg::Unused,
            legacy: None,
            silence: None,
            deadline: now,
            corrected: false,
        };
        opening.begin_handshake(now, timeout, legacy, id);
        opening
    }

    /// Waits for the answer to the probe as for any other.
    pub(super) const fn disable_probe_timeout(&mut self) {
        self.silence = None;
    }

    /// Lets the connection attempt time out then.
    pub(super) const fn time_out_at(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Returns true if an answer to `id` would be one to the probe or the handshake.
    pub(super) fn awaits(&self, id: u64) -> bool {
        self.probe == Leg::Sent(id) || self.handshake == Leg::Sent(id)
    }

    pub(super) fn is_owed(&self) -> bool {
        matches!(self.probe, Leg::Owed(_)) || matches!(self.handshake, Leg::Owed(_))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let earliest = self
            .silence
            .map_or(self.deadline, |silence| silence.min(self.deadline));
        earliest.as_deadline()
    }

    pub(super) fn begin_handshake(
        &mut self,
        now: Instant,
        timeout: Duration,
        legacy: Revision,
        id: u64,
    ) {
        self.legacy = Some(legacy);
        self.handshake = Leg::Owed(id);
        self.silence = None;
        self.deadline = now + timeout.max(LEAST);
    }
}

/// Whatever a timer arms lies ahead.
const LEAST: Duration = Duration::from_millis(1);
