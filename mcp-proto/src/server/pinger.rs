//! Periodic pings (LC-22).

use core::time::Duration;

use crate::ping::PingPolicy;
use crate::time::Instant;

#[derive(Debug)]
pub(super) struct Pinger {
    policy: Option<PingPolicy>,
    missed: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No session, or no pings in it.
    Off,
    /// The next one is sent then.
    Resting(Instant),
    /// It waits for a buffer.
    Due,
    /// It is on its way, with this id and until then.
    Waiting(u64, Instant),
}

/// What a passed deadline meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// So many in a row now.
    Again(u32),
    /// One too many: the client is gone.
    Last(u32),
}

impl Pinger {
    pub(super) const fn new(policy: Option<PingPolicy>) -> Self {
        Self {
            policy,
            missed: 0,
            state: State::Off,
        }
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.rest(now);
    }

    pub(super) fn stop(&mut self) {
        self.state = State::Off;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Off | State::Due => None,
            State::Resting(at) | State::Waiting(_, at) => at.as_deadline(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Missed> {
        match self.state {
            State::Resting(at) if at.is_due(now) => {
                self.state = State::Due;
                None
            }
            State::Waiting(_, at) if at.is_due(now) => {
                self.missed = self.missed.saturating_add(1);
                self.rest(now);
                let last = self
                    .policy
                    .is_some_and(|policy| self.missed >= policy.misses);
                Some(if last {
                    Missed::Last(self.missed)
                } else {
                    Missed::Again(self.missed)
                })
            }
            _ => None,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.state == State::Due
    }

    pub(super) fn sent(&mut self, now: Instant, id: u64) {
        if let Some(policy) = self.policy {
            self.state = State::Waiting(id, ahead(now, policy.timeout));
        }
    }

    /// Whether `id` is that of the ping under way; any answer to it is a sign of life.
    pub(super) fn answered(&mut self, now: Instant, id: u64) -> bool {
        let mine = matches!(self.state, State::Waiting(waiting, _) if waiting == id);
        if mine {
            self.missed = 0;
            self.rest(now);
        }
        mine
    }

    fn rest(&mut self, now: Instant) {
        self.state = match self.policy {
            Some(policy) => State::Resting(ahead(now, policy.interval)),
            None => State::Off,
        };
    }
}

/// At least a millisecond, so that a policy of zero cannot spin its driver.
fn ahead(now: Instant, duration: Duration) -> Instant {
    now + duration.max(Duration::from_millis(1))
}
