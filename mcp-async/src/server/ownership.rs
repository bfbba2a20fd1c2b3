//! The lease of a process that shares a store with others, by the clock of the process.

use core::time::Duration;

use mcp_proto::Instant;

use crate::random;

/// The lease of a process, from the times at which it asked the store for it.
///
/// The lease ends in the store at the earliest when its duration has passed since the announcement was
/// sent. A process that counts from then, with a margin for clocks that do not run at the same speed, never
/// serves a session that the store gives to another one.
#[derive(Debug)]
pub(crate) struct Ownership {
    lease: Duration,
    /// The number of the lease; 0 before the first.
    number: u64,
    /// The time at which the last announcement was sent that has renewed the lease.
    renewed: Option<Instant>,
    /// The time at which the first announcement was sent since which none has failed, and none has
    /// begun a new lease.
    steady: Option<Instant>,
}

/// The step that is needed before a session is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Nothing.
    Serve,
    /// The session was owned in an earlier lease: the store is asked whose it is now.
    Confirm,
    /// The lease may be over: it is renewed.
    Renew,
}

impl Ownership {
    pub(crate) const fn new(lease: Duration) -> Self {
        Self {
            lease,
            number: 0,
            renewed: None,
            steady: None,
        }
    }

    /// The number of the lease; 0 before the first.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// The store has answered the announcement that was sent then.
    pub(crate) fn announced(&mut self, sent: Instant, number: u64) {
        if number < self.number {
            // An answer that comes after that of a later lease.
            return;
        }
        if number > self.number {
            (self.number, self.renewed, self.steady) = (number, None, None);
        }
        self.renewed = self.renewed.max(Some(sent));
        self.steady.get_or_insert(sent);
    }

    /// An announcement has failed, or its answer did not come.
    pub(crate) const fn failed(&mut self) {
        self.steady = None;
    }

    /// The lease is withdrawn: the sessions may be those of others from now on.
    pub(crate) const fn end(&mut self) {
        (self.renewed, self.steady) = (None, None);
    }

    /// Returns true if the lease is good at this time.
    pub(crate) fn holds(&self, now: Instant) -> bool {
        let good = self.lease - self.lease / MARGIN;
        self.renewed.is_some_and(|renewed| now < renewed + good)
    }

    /// Returns true if the lease was renewed less than `time` ago.
    pub(crate) fn was_renewed_within(&self, now: Instant, time: Duration) -> bool {
        self.renewed.is_some_and(|renewed| now < renewed + time)
    }

    /// Returns the step before a session is served that was last confirmed in lease `confirmed`.
    pub(crate) fn decide(&self, now: Instant, confirmed: u64) -> Decision {
        match self.holds(now) {
            false => Decision::Renew,
            true if confirmed != self.number => Decision::Confirm,
            true => Decision::Serve,
        }
    }

    /// Returns true if a process whose lease the store does not know is dead. After an outage of
    /// the store other processes may not have announced themselves yet, so the announcements of this
    /// process must have succeeded for a whole lease.
    pub(crate) fn may_displace(&self, now: Instant) -> bool {
        let steady = self.steady.is_some_and(|steady| steady + self.lease <= now);
        steady && self.holds(now)
    }
}

/// Returns up to a tenth less, so that processes that were started together do not renew their leases together.
pub(crate) fn jitter(wait: Duration) -> Duration {
    // Without randomness they renew them together.
    let [byte] = random::bytes().unwrap_or_default();
    wait - wait / 10 * u32::from(byte) / 256
}

/// The part of a lease that is not used.
const MARGIN: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_millis(1000);

    /// Announcements as `sent:number`, `sent` alone for a failure and `end` for the end; then what is decided
    /// about a session of lease 1, and whether others may be displaced.
    #[track_caller]
    fn check(announcements: &str, now: u64, decision: Decision, displaces: bool) {
        let mut ownership = Ownership::new(LEASE);
        for announcement in announcements.split_whitespace() {
            match announcement.split_once(':') {
                Some((sent, number)) => {
                    let sent = Instant::from_millis(sent.parse().unwrap());
                    ownership.announced(sent, number.parse().unwrap());
                }
                None if announcement == "end" => ownership.end(),
                None => ownership.failed(),
            }
        }
        let now = Instant::from_millis(now);
        assert_eq!(
            ownership.decide(now, 1),
            decision,
            "{announcements} at {now:?}"
        );
        assert_eq!(
            ownership.may_displace(now),
            displaces,
            "{announcements} at {now:?}"
        );
    }

    #[test]
    fn a_lease_is_counted_from_when_it_was_asked_for() {
        use Decision::{Renew, Serve};
        check("", 0, Renew, false);
        check("100:1", 100, Serve, false);
        check("100:1", 999, Serve, false);
        check("100:1", 1000, Renew, false);
        check("100:1", u64::MAX, Renew, false);
        check("100:1 400:1", 1299, Serve, true);
        check("100:1 400:1", 1300, Renew, false);
        // The answers come in another order.
        check("400:1 100:1", 1299, Serve, false);
    }

    #[test]
    fn a_new_lease_confirms_no_session() {
        use Decision::{Confirm, Renew, Serve};
        check("100:1 2000:2", 2000, Confirm, false);
        check("100:1 2000:2", 2900, Renew, false);
        check("100:1 2000:2 2100:1", 2950, Renew, false);
        check("0:1 1500:1 2000:1", 2000, Serve, true);
        check("0:1 1500:3 2000:3", 2400, Confirm, false);
        check("0:1 1500:3 2000:3", 2500, Confirm, true);
    }

    #[test]
    fn a_process_that_has_failed_displaces_no_other() {
        use Decision::{Renew, Serve};
        check("0:1 500:1 1000:1", 1000, Serve, true);
        check("0:1 500 1000:1", 1000, Serve, false);
        check("0:1 500 1000:1 1500:1", 1999, Serve, false);
        check("0:1 500 1000:1 1500:1", 2000, Serve, true);
        check("0:1 500:1 1000:1 end", 1000, Renew, false);
    }
}
