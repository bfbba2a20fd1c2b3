//! Limits the consents for which a server asks the user.

use mcp_auth::{Challenge, UnixTime};

use crate::crypto::sha256;

/// The consents that a user was asked for within [`WINDOW`], whatever request they were for (AU-60).
#[derive(Default)]
pub(super) struct Consents(Vec<Consent>);

struct Consent {
    reason: Reason,
    at: UnixTime,
    /// True if the server accepted a request after the consent.
    is_useful: bool,
}

/// The reason why a server asks for consent: a hash of the scopes that it misses, or of nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::http::client) struct Reason([u8; 32]);

impl Reason {
    pub(in crate::http::client) fn of(challenge: Option<&Challenge>) -> Self {
        let lacks = |it: &&Challenge| it.parameter("error") == Some("insufficient_scope");
        let scope = challenge.filter(lacks).map(|it| it.parameter("scope"));
        Self(sha256(scope.flatten().unwrap_or_default().as_bytes()))
    }
}

impl Consents {
    /// Notes that the user is asked now. Returns whether that is allowed.
    pub(super) fn begin(&mut self, reason: Reason, now: UnixTime) -> bool {
        self.0
            .retain(|it| now.as_secs().abs_diff(it.at.as_secs()) < WINDOW);
        let is_useless = |it: &&Consent| !it.is_useful && it.reason == reason;
        let useless = self.0.iter().filter(is_useless).count();
        let is_allowed = useless < MOST_USELESS && self.0.len() < MOST;
        if is_allowed {
            self.0.push(Consent {
                reason,
                at: now,
                is_useful: false,
            });
        }
        is_allowed
    }

    /// Returns true if one of the consents has led to no success yet.
    pub(super) fn awaits_success(&self) -> bool {
        self.0.iter().any(|it| !it.is_useful)
    }

    /// Notes that the server accepted a request whose token was obtained for this reason, or whose
    /// token is not refused any more.
    pub(super) fn succeeded(&mut self, reason: Option<Reason>) {
        let token = Reason::of(None);
        for consent in &mut self.0 {
            consent.is_useful |= consent.reason == token || Some(consent.reason) == reason;
        }
    }
}

/// The time for which a consent counts, in seconds.
const WINDOW: u64 = 10 * 60;
/// The most for one reason without a success.
const MOST_USELESS: usize = 3;
/// The most for all reasons.
const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(scope: &str) -> Reason {
        let field = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
        Reason::of(Challenge::parse_all([field.as_bytes()]).first())
    }

    #[test]
    fn consents_without_a_success_are_few() {
        let mut consents = Consents::default();
        let mut begin = |reason, at| consents.begin(reason, UnixTime::from_secs(at));
        for _ in 0..3 {
            assert!(begin(scope("a"), 1000));
        }
        assert!(!begin(scope("a"), 1001));
        assert!(begin(scope("b"), 1001));
        assert!(begin(Reason::of(None), 1001));
        assert!(!begin(scope("a"), 1599));
        assert!(begin(scope("a"), 1600));
    }

    #[test]
    fn successes_do_not_make_consents_endless() {
        let mut consents = Consents::default();
        for _ in 0..10 {
            assert!(consents.begin(scope("a"), UnixTime::from_secs(1000)));
            assert!(consents.awaits_success());
            consents.succeeded(Some(scope("a")));
            assert!(!consents.awaits_success());
        }
        assert!(!consents.begin(scope("b"), UnixTime::from_secs(1000)));
        // A clock that is set back does not lock the user out.
        assert!(consents.begin(scope("b"), UnixTime::from_secs(100)));
    }
}
