//! The requirements that a token must satisfy.

use alloc::string::String;

use super::algorithm::Algorithms;
use super::claims::{ClaimValues, TokenClaims};
use super::denial::DenialReason;
use super::jws::{Jws, JwsFault};
use crate::Scheme;
use crate::UnixTime;

/// The requirements that every token of a resource must satisfy.
#[derive(Clone, Debug)]
pub(super) struct TokenPolicy {
    /// The resource as it is published.
    pub(super) audience: String,
    pub(super) algorithms: Algorithms,
    /// True if tokens without `typ`, or with `JWT`, are taken for access tokens.
    pub(super) accept_untyped: bool,
    /// The seconds that clocks may differ.
    pub(super) leeway: u64,
}

impl TokenPolicy {
    /// Reads a token and checks its header (AU-18).
    pub(super) fn parse(&self, token: &str) -> Result<Jws, DenialReason> {
        let jws = Jws::parse(token).map_err(|fault| match fault {
            JwsFault::Malformed => DenialReason::TokenMalformed,
            JwsFault::Algorithm => DenialReason::AlgorithmNotAllowed,
            JwsFault::Critical => DenialReason::CriticalHeader,
        })?;
        if !self.algorithms.contains(jws.algorithm) {
            return Err(DenialReason::AlgorithmNotAllowed);
        }
        let is_untyped = jws.media_type.is_none() || jws.has_type("JWT");
        match jws.has_type("at+jwt") {
            true => Ok(jws),
            false if !is_untyped => Err(DenialReason::TokenType),
            false if self.accept_untyped => Ok(jws),
            false => Err(DenialReason::UntypedToken),
        }
    }

    /// Checks what does not depend on the signature.
    pub(super) fn check(
        &self,
        claims: &TokenClaims,
        scheme: Scheme,
        now: UnixTime,
    ) -> Result<(), DenialReason> {
        let claims = claims.values();
        // AU-06: byte for byte, and a token without an audience is refused.
        if !claims.audience.contains(&self.audience) {
            return Err(DenialReason::Audience);
        }
        self.check_times(claims, now)?;
        if claims.subject.is_none() && claims.client.is_none() {
            return Err(DenialReason::NoIdentity);
        }
        // AU-112
        match (scheme, &claims.key_thumbprint) {
            _ if claims.has_other_binding => Err(DenialReason::UnsupportedBinding),
            (Scheme::Bearer, Some(_)) => Err(DenialReason::BoundToken),
            (Scheme::Dpop, None) => Err(DenialReason::UnboundToken),
            _ => Ok(()),
        }
    }

    fn check_times(&self, claims: &ClaimValues, now: UnixTime) -> Result<(), DenialReason> {
        let (early, late) = (
            now.saturating_sub(self.leeway),
            now.saturating_add(self.leeway),
        );
        if claims.expires.is_some_and(|expires| expires <= early) {
            return Err(DenialReason::Expired);
        }
        // A claim that the token never expires is not accepted: streams end with their token (AU-17).
        let latest = late.saturating_add(MAX_LIFETIME);
        if claims.expires.is_some_and(|expires| expires > latest) {
            return Err(DenialReason::Claim("exp"));
        }
        let begins = claims.not_before.max(claims.issued);
        if begins.is_some_and(|begins| begins > late) {
            return Err(DenialReason::NotYetValid);
        }
        Ok(())
    }
}

/// The longest that a token may still be valid, in seconds: one year.
const MAX_LIFETIME: u64 = 366 * 24 * 60 * 60;
