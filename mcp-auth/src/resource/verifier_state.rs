//! The state of token checks that is kept between requests.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::claims::TokenClaims;
use super::expiring_map::ExpiringMap;
use super::key_cache::KeyCache;
use super::key_issuer::IssuerIndex;
use super::nonces::Nonces;
use super::protected_resource::ProtectedResource;
use super::used_proofs::UsedProofs;
use super::{Digest, Fingerprint};
use crate::{AuthError, UnixTime};

/// The state that is kept between the requests of a resource: keys of issuers and the tokens that they have verified,
/// answers about tokens, proofs that were used, and nonces.
///
/// A server with several processes has one in each. A proof can then be used once in each of them.
///
/// `Debug` shows nothing of it.
pub struct VerifierState {
    pub(super) keys: Vec<KeyCache>,
    /// Answers about tokens, by the hashes of the tokens.
    pub(super) tokens: ExpiringMap<Digest, TokenClaims>,
    /// The identities of tokens that were valid when they were last asked about.
    pub(super) known: ExpiringMap<Digest, Box<str>>,
    /// Tokens that were not, in a map of their own: invented tokens push out no others.
    pub(super) refused: ExpiringMap<Digest, ()>,
    /// Proofs that were used.
    pub(super) proofs: UsedProofs,
    pub(super) nonces: Nonces,
    nonce_lifetime: Option<u64>,
}

/// A proof is remembered for minutes and takes little memory.
const PROOFS_PER_TOKEN: usize = 8;

impl VerifierState {
    /// Knows nothing. Up to `capacity` opaque tokens, as many signed ones of each issuer, as many invented ones, and eight
    /// times as many proofs are kept; if there are more, those that expire first are forgotten: of the tokens of one
    /// kind, and of the proofs those of the key that has the most.
    ///
    /// A proof of such a key that may be a forgotten one is refused. The clock of its client may then be
    /// late by fewer seconds, and a client that sends more proofs with times in the future than are kept
    /// waits until that time. Other keys are not concerned. Each proof is kept for up to 331 s: eight times
    /// `capacity` should exceed the requests with proofs in that time.
    pub fn new(resource: &ProtectedResource, capacity: usize) -> Self {
        let keys = resource.issuers.iter();
        let keys = keys.map(|issuer| KeyCache::new(issuer, capacity));
        Self {
            keys: Vec::from_iter(keys),
            tokens: ExpiringMap::new(capacity),
            known: ExpiringMap::new(capacity),
            refused: ExpiringMap::new(capacity),
            proofs: UsedProofs::new(capacity.saturating_mul(PROOFS_PER_TOKEN)),
            nonces: Nonces::default(),
            nonce_lifetime: resource.nonce_lifetime,
        }
    }

    /// Returns the claims of a token that keys of an issuer have verified lately. Other issuers than that of the token,
    /// and other verifiers, have entries of their own.
    pub(super) fn verified(
        &self,
        resource: &ProtectedResource,
        signature: Fingerprint,
        message: &str,
        now: UnixTime,
    ) -> Option<&TokenClaims> {
        let seconds = resource.signature_cache;
        self.keys
            .iter()
            .zip(&resource.issuers)
            .find_map(|(keys, issuer)| {
                let claims = keys.verified.find(signature, message, seconds, now)?;
                (claims.issuer() == Some(&issuer.issuer)).then_some(claims)
            })
    }

    /// Gives the answer to [`CheckStep::FetchKeys`](super::CheckStep::FetchKeys): the body of a
    /// response with status 200, or `None` if there is no such response. Returns whether the
    /// document can be used; one that cannot is treated like none.
    ///
    /// All checks that wait for keys of this issuer have to be continued. What the keys before these have verified is
    /// forgotten.
    pub fn set_keys(
        &mut self,
        issuer: IssuerIndex,
        document: Option<&[u8]>,
        now: UnixTime,
    ) -> bool {
        let keys = self.keys.get_mut(issuer.0);
        keys.is_some_and(|keys| keys.receive(document, now))
    }

    /// Returns the error of the last fetch of an issuer's keys, for operators: the document and its
    /// URL. `None` if the last fetch succeeded.
    pub fn keys_error(&self, issuer: IssuerIndex) -> Option<&AuthError> {
        self.keys.get(issuer.0)?.error()
    }

    /// Gives the answer to [`CheckStep::MakeNonce`](super::CheckStep::MakeNonce). Returns false if
    /// the text is empty, or has characters that a nonce cannot have; Base64 is suitable.
    ///
    /// If the check of another request was answered meanwhile, its nonce stays in use, and this one
    /// is left out.
    pub fn set_nonce(&mut self, nonce: &str, now: UnixTime) -> bool {
        let lifetime = self.nonce_lifetime;
        let is_due = lifetime.is_none_or(|lifetime| self.nonces.is_due(lifetime, now));
        match is_due {
            true => self.nonces.add(nonce, now),
            false => Nonces::is_sound(nonce),
        }
    }
}

impl fmt::Debug for VerifierState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifierState").finish_non_exhaustive()
    }
}
