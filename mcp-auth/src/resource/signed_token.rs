//! A token that its issuer has signed: which key verifies it, and whether one has.

use alloc::boxed::Box;
use alloc::string::String;

use super::Fingerprint;
use super::check_step::SignatureToVerify;
use super::claims::TokenClaims;
use super::denial::DenialReason;
use super::jws::Jws;
use super::key_cache::KeyLookup;
use super::key_issuer::IssuerIndex;
use super::protected_resource::ProtectedResource;
use super::public_key::PublicKey;
use super::verifier_state::VerifierState;
use crate::UnixTime;

/// A token that its issuer has signed, while it is checked.
#[derive(Clone)]
pub(super) struct SignedToken {
    jws: Jws,
    pub(super) issuer: IssuerIndex,
    /// The number of searches for keys that had ended when the key was needed.
    since: Option<u32>,
    key: Option<FoundKey>,
    is_verified: bool,
}

#[derive(Clone)]
struct FoundKey {
    key: PublicKey,
    /// The number of searches for keys that had ended when it was found.
    since: u32,
}

/// The next action for a signed token.
pub(super) enum SignedTokenStep {
    /// The document at this URL is to be fetched.
    Fetch(String),
    /// Another check fetches the keys.
    Wait,
    VerifySignature,
    /// The signature is valid.
    Verified,
}

impl SignedToken {
    /// Reads a token. Nothing is fetched for a token of an unknown issuer.
    pub(super) fn read(
        token: &str,
        resource: &ProtectedResource,
    ) -> Result<(Box<Self>, TokenClaims), DenialReason> {
        let jws = resource.tokens.parse(token)?;
        let claims = TokenClaims::read(jws.payload())?;
        let issuer = claims.issuer().ok_or(DenialReason::Claim("iss"))?;
        if claims.expires().is_none() {
            return Err(DenialReason::Claim("exp"));
        }
        let mut known = resource.issuers.iter();
        let index = known.position(|known| known.issuer == issuer);
        let issuer = IssuerIndex(index.ok_or(DenialReason::Issuer)?);
        let token = Self {
            jws,
            issuer,
            since: None,
            key: None,
            is_verified: false,
        };
        Ok((Box::new(token), claims))
    }

    /// Returns what is missing for its signature.
    pub(super) fn step(
        &mut self,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> Result<SignedTokenStep, DenialReason> {
        if self.key.is_none() {
            let keys = state.keys.get_mut(self.issuer.0);
            let keys = keys.ok_or(DenialReason::UnexpectedAnswer)?;
            let wanted = (self.jws.key_id.as_deref(), self.jws.algorithm);
            let since = *self.since.get_or_insert(keys.searches());
            match keys.find(wanted, &resource.key_fetches, since, now) {
                KeyLookup::Found(key) => {
                    if !key.fits_signature(&self.jws.signature) {
                        return Err(DenialReason::Signature);
                    }
                    let since = keys.searches();
                    self.key = Some(FoundKey { key, since });
                }
                KeyLookup::Fetch(url) => return Ok(SignedTokenStep::Fetch(url)),
                KeyLookup::Wait => return Ok(SignedTokenStep::Wait),
                KeyLookup::Unknown => return Err(DenialReason::UnknownKey),
                KeyLookup::Unavailable => return Err(DenialReason::VerifierUnavailable),
            }
        }
        Ok(match self.is_verified {
            true => SignedTokenStep::Verified,
            false => SignedTokenStep::VerifySignature,
        })
    }

    /// Returns the signature to verify, once there is a key.
    pub(super) fn signature(&self) -> Option<SignatureToVerify<'_>> {
        let key = &self.key.as_ref()?.key;
        Some(SignatureToVerify::new(&self.jws, key))
    }

    /// Takes it that the signature is valid.
    pub(super) const fn set_verified(&mut self) {
        self.is_verified = true;
    }

    /// Remembers that the signature, of this fingerprint, is valid, unless the keys were fetched since its key was found.
    pub(super) fn remember(
        &self,
        signature: Fingerprint,
        claims: &TokenClaims,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) {
        let (Some(keys), Some(key)) = (state.keys.get_mut(self.issuer.0), &self.key) else {
            return;
        };
        let until = now.saturating_add(resource.signature_cache);
        let until = claims.expires().map_or(until, |expires| expires.min(until));
        let fresh = keys.fresh_until(&resource.key_fetches);
        let Some(until) = fresh.map(|fresh| fresh.min(until)) else {
            return;
        };
        if keys.searches() == key.since && until > now {
            let verified = (&*self.jws.message, claims);
            keys.verified.insert(signature, verified, until, now);
        }
    }
}
