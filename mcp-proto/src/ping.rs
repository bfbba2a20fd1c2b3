//! Periodic pings of a legacy session (LC-22), for both roles.

use core::time::Duration;

use crate::time::Instant;

/// Configures the regular pings of a legacy session (LC-22), for either role.
///
/// 2026-07-28 has no ping. Durations count in whole milliseconds, and less than one counts as one.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::PingPolicy;
///
/// let policy = PingPolicy { interval: Duration::from_secs(60), ..PingPolicy::default() };
/// assert_eq!(policy.misses, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPolicy {
    /// From one answer to the next ping.
    pub interval: Duration,
    /// The time for which one ping may stay unanswered before it counts as a miss.
    pub timeout: Duration,
    /// After so many misses in a row the connection is closed.
    pub misses: u32,
}

impl Default for PingPolicy {
    /// Every 30 s, 10 s to answer, closed after 3 misses.
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            misses: 3,
        }
    }
}

/// The pings of one session.
///
/// ```text
///   Off -- start --> Resting -- interval --> Due -- written --> Sent
///                       ^                     |                  |
///                       `----- answer, timeout (a miss) ---------'
/// ```
#[derive(Debug)]
pub(crate) struct Pinger {
    policy: Option<PingPolicy>,
    unwritten: Unwritten,
    missed: u32,
    state: State,
}

/// The outcome of a ping that is due and finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// It counts as a miss after the timeout, because the peer does not read.
    Missed,
    /// It waits, because the stream that carries it may be closed.
    Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No session, or no pings in it.
    Off,
    /// Until the next one.
    Resting(Instant),
    /// One is to be written, until then if that counts.
    Due(Option<Instant>),
    /// One is unanswered, with this id and until then.
    Sent(u64, Instant),
}

/// A ping that was not answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// So many in a row now.
    Again(u32),
    /// One too many: the peer is gone.
    Last(u32),
}

impl Pinger {
    pub(crate) const fn new(policy: Option<PingPolicy>, unwritten: Unwritten) -> Self {
        Self {
            policy,
            unwritten,
            missed: 0,
            state: State::Off,
        }
    }

    /// Starts a session.
    pub(crate) fn start(&mut self, now: Instant) {
        self.state = match self.policy {
            Some(policy) => State::Resting(ahead(now, policy.interval)),
            None => State::Off,
        };
    }

    /// Ends the session.
    pub(crate) fn stop(&mut self) {
        self.state = State::Off;
    }

    /// Ends the session; the next one starts without misses.
    pub(crate) fn reset(&mut self) {
        self.stop();
        self.missed = 0;
    }

    /// The number of misses in a row.
    pub(crate) const fn missed(&self) -> u32 {
        self.missed
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Off | State::Due(None) => None,
            State::Resting(at) | State::Due(Some(at)) | State::Sent(_, at) => at.as_deadline(),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Option<Missed> {
        let policy = self.policy?;
        match self.state {
            State::Resting(at) if at.is_due(now) => {
                let until = ahead(now, policy.timeout);
                let counts = self.unwritten == Unwritten::Missed;
                self.state = State::Due(counts.then_some(until));
                None
            }
            State::Due(Some(at)) | State::Sent(_, at) if at.is_due(now) => {
                self.missed = self.missed.saturating_add(1);
                self.start(now);
                Some(if self.missed >= policy.misses {
                    Missed::Last(self.missed)
                } else {
                    Missed::Again(self.missed)
                })
            }
            _ => None,
        }
    }

    /// Returns true if a ping is to be written.
    pub(crate) const fn is_due(&self) -> bool {
        matches!(self.state, State::Due(_))
    }

    /// A ping was written with this id.
    pub(crate) fn sent(&mut self, now: Instant, id: u64) {
        if let (State::Due(until), Some(policy)) = (self.state, self.policy) {
            let until = until.unwrap_or_else(|| ahead(now, policy.timeout));
            self.state = State::Sent(id, until);
        }
    }

    /// Returns true if `id` is that of the unanswered ping.
    pub(crate) fn awaits(&self, id: u64) -> bool {
        matches!(self.state, State::Sent(sent, _) if sent == id)
    }

    /// Takes an answer of any kind, which is a sign of life, if it is that to the ping.
    pub(crate) fn answered(&mut self, now: Instant, id: u64) -> bool {
        let mine = self.awaits(id);
        if mine {
            self.missed = 0;
            self.start(now);
        }
        mine
    }
}

/// At least a millisecond, so that a policy of zero cannot spin its driver.
fn ahead(now: Instant, duration: Duration) -> Instant {
    now + duration.max(Duration::from_millis(1))
}
