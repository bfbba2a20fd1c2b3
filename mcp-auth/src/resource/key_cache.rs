//! The keys of an issuer: when they are fetched, and which one verifies a token.

use alloc::string::String;
use alloc::vec::Vec;

use mcp_proto::json::{Object, Raw};

use super::algorithm::Algorithm;
use super::jws::DEPTH;
use super::key_issuer::KeyIssuer;
use super::key_source::{KeySearch, KeySource};
use super::public_key::PublicKey;
use super::text::{self, has_passed};
use super::verified_tokens::VerifiedTokens;
use crate::{AuthError, Document, Problem, UnixTime};

/// The intervals at which the keys of an issuer are fetched.
///
/// ```
/// use mcp_auth::resource::KeyFetchPolicy;
///
/// let policy = KeyFetchPolicy { unknown_key_interval: 60, ..KeyFetchPolicy::default() };
/// assert_eq!(policy.fresh_for, 600);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFetchPolicy {
    /// Seconds after which keys are fetched again, so that keys which the issuer has withdrawn are
    /// not accepted any more.
    pub fresh_for: u64,
    /// Seconds for which keys are used if they cannot be fetched again.
    pub usable_for: u64,
    /// The least number of seconds between two fetches because of an unknown `kid`, whatever
    /// tokens are sent (AU-18).
    pub unknown_key_interval: u64,
    /// Seconds after a failed fetch before the next one.
    pub retry_interval: u64,
    /// Seconds after which a fetch without an answer is given up.
    pub timeout: u64,
}

impl Default for KeyFetchPolicy {
    fn default() -> Self {
        Self {
            fresh_for: 600,
            usable_for: 86_400,
            unknown_key_interval: 30,
            retry_interval: 5,
            timeout: 30,
        }
    }
}

/// The keys of one issuer.
#[derive(Clone, Debug)]
pub(super) struct KeyCache {
    source: KeySource,
    keys: Vec<IssuerKey>,
    /// Tokens that these keys have verified.
    pub(super) verified: VerifiedTokens,
    /// The time at which the keys were received.
    received: Option<UnixTime>,
    /// The time at which the last fetch began; `None` if the next fetch need not wait.
    attempted: Option<UnixTime>,
    is_fetching: bool,
    /// The number of searches for keys that have ended.
    searches: u32,
    /// The error of the last fetch, if it failed.
    error: Option<AuthError>,
}

#[derive(Clone, Debug)]
struct IssuerKey {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    key: PublicKey,
}

/// The result of a search for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyLookup {
    Found(PublicKey),
    /// The caller has to fetch what is at this URL; every other one waits.
    Fetch(String),
    /// Another caller fetches the keys.
    Wait,
    /// The issuer has no such key.
    Unknown,
    /// The keys cannot be fetched.
    Unavailable,
}

impl KeyCache {
    pub(super) fn new(issuer: &KeyIssuer, capacity: usize) -> Self {
        Self {
            source: KeySource::new(issuer),
            keys: Vec::new(),
            verified: VerifiedTokens::new(capacity),
            received: None,
            attempted: None,
            is_fetching: false,
            searches: 0,
            error: None,
        }
    }

    pub(super) const fn error(&self) -> Option<&AuthError> {
        self.error.as_ref()
    }

    pub(super) const fn searches(&self) -> u32 {
        self.searches
    }

    /// Returns the moment at which the keys are fetched again; `None` before the first keys have come.
    pub(super) fn fresh_until(&self, policy: &KeyFetchPolicy) -> Option<UnixTime> {
        let received = self.received?;
        Some(received.saturating_add(policy.fresh_for))
    }

    /// Finds a key. A check for which a search has ended since it began, `since` so many searches,
    /// causes no other: otherwise it would not end where the intervals are short.
    pub(super) fn find(
        &mut self,
        (id, algorithm): (Option<&str>, Algorithm),
        policy: &KeyFetchPolicy,
        since: u32,
        now: UnixTime,
    ) -> KeyLookup {
        let is_within = |seconds| {
            self.received
                .is_some_and(|received| !has_passed(received, seconds, now))
        };
        let (is_fresh, is_usable) = (is_within(policy.fresh_for), is_within(policy.usable_for));
        let found = self.pick(id, algorithm).filter(|_| is_usable).cloned();
        if let Some(key) = found.clone().filter(|_| is_fresh) {
            return KeyLookup::Found(key);
        }
        let is_later = |seconds| {
            self.attempted
                .is_none_or(|attempted| has_passed(attempted, seconds, now))
        };
        let may_search = self.searches == since;
        if may_search && self.is_fetching && !is_later(policy.timeout) {
            return found.map_or(KeyLookup::Wait, KeyLookup::Found);
        }
        let interval = match self.error.is_some() || self.is_fetching {
            true => policy.retry_interval,
            false if is_fresh => policy.unknown_key_interval,
            false => 0,
        };
        if may_search && is_later(interval) {
            self.is_fetching = true;
            self.attempted = Some(now);
            return KeyLookup::Fetch(self.source.url());
        }
        match found {
            Some(key) => KeyLookup::Found(key),
            None if self.error.is_some() => KeyLookup::Unavailable,
            None => KeyLookup::Unknown,
        }
    }

    /// Takes the answer to a fetch; `None` if it failed. Returns true if the document can be used.
    pub(super) fn receive(&mut self, document: Option<&[u8]>, now: UnixTime) -> bool {
        self.is_fetching = false;
        let Some(url) = self.source.keys_url() else {
            let search = self.source.receive(document);
            let is_found = matches!(search, KeySearch::Found);
            match search {
                KeySearch::Ended(error) => {
                    self.searches = self.searches.wrapping_add(1);
                    self.error = Some(error);
                }
                // The next document is fetched at once.
                KeySearch::Found | KeySearch::Continues => self.attempted = None,
            }
            return is_found;
        };
        self.searches = self.searches.wrapping_add(1);
        match document.ok_or(Problem::NotFound).and_then(read) {
            Ok(keys) => {
                self.keys = keys;
                self.verified.clear();
                self.received = Some(now);
                self.error = None;
            }
            Err(problem) => {
                self.error = Some(AuthError::new(Document::Keys, url, problem));
                self.source.forget();
            }
        }
        self.error.is_none()
    }

    /// A token without `kid` is verified with the only key that fits, and with none of several.
    fn pick(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&PublicKey> {
        let mut fitting = self.keys.iter().filter(|key| {
            key.algorithm.is_none_or(|only| only == algorithm)
                && key.key.fits(algorithm)
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        });
        let first = fitting.next()?;
        (id.is_some() || fitting.next().is_none()).then_some(&first.key)
    }
}

/// Keys that one document may have.
const MAX_KEYS: usize = 100;

/// The keys of a document (RFC 7517, section 5); what cannot verify tokens is left out.
fn read(document: &[u8]) -> Result<Vec<IssuerKey>, Problem> {
    let raw = Raw::parse(document, DEPTH).map_err(Problem::NotJson)?;
    let object = raw.object().ok_or_else(|| Problem::NotObject(raw.kind()))?;
    let found = object.find(["keys"]);
    let [keys] = found.map_err(|_| Problem::Duplicate("keys"))?;
    let keys = keys.ok_or(Problem::Missing("keys"))?;
    let elements = keys.array().ok_or_else(|| Problem::WrongType {
        member: "keys",
        expected: "an array",
        found: keys.kind(),
    })?;
    Ok(elements
        .elements()
        .filter_map(|key| IssuerKey::read(key.object()?))
        .take(MAX_KEYS)
        .collect())
}

impl IssuerKey {
    fn read(jwk: Object<'_>) -> Option<Self> {
        let [kid, alg, usage, operations] = jwk.find(["kid", "alg", "use", "key_ops"]).ok()?;
        let verifies = |operations: Raw<'_>| {
            text::one_or_many(operations).is_some_and(|all| all.iter().any(|one| one == "verify"))
        };
        if usage.is_some_and(|usage| usage.string().is_none_or(|usage| usage != "sig"))
            || operations.is_some_and(|operations| !verifies(operations))
        {
            return None;
        }
        let algorithm = match alg {
            Some(alg) => Some(Algorithm::from_name(&text::of(alg)?)?),
            None => None,
        };
        let id = match kid {
            Some(kid) => Some(text::of(kid)?.into_owned()),
            None => None,
        };
        Some(Self {
            id,
            algorithm,
            key: PublicKey::from_jwk(jwk)?,
        })
    }
}
