//! DPoP proofs (RFC 9449, section 4.3).

use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::Raw;

use super::Digest;
use super::algorithm::Algorithms;
use super::denial::DenialReason;
use super::jws::{Jws, JwsFault, members};
use super::public_key::PublicKey;
use super::text;
use crate::{UnixTime, Uri};

/// A proof, before its signature is verified.
#[derive(Clone)]
pub(super) struct Proof {
    pub(super) jws: Jws,
    pub(super) key: PublicKey,
    pub(super) nonce: Option<String>,
    id: String,
    method: String,
    url: String,
    token_hash: String,
    issued: UnixTime,
}

/// The seconds that a proof may be older than the server's clock (AU-110).
const PAST: u64 = 300;

/// The seconds that a proof may be younger: a short time, since it is kept longer than others.
const FUTURE: u64 = 30;

/// The longest time for which a proof that is accepted now can be accepted, in seconds.
pub(super) const ACCEPTED: u64 = FUTURE + PAST + 1;

/// Bytes that a proof may have.
const MAX_PROOF: usize = 8 * 1024;

/// Bytes that `jti` may have.
const MAX_ID: usize = 256;

impl Proof {
    pub(super) fn parse(text: &str, algorithms: Algorithms) -> Result<Self, DenialReason> {
        if text.len() > MAX_PROOF {
            return Err(DenialReason::ProofMalformed);
        }
        let jws = Jws::parse(text).map_err(|fault| match fault {
            JwsFault::Malformed | JwsFault::Critical => DenialReason::ProofMalformed,
            JwsFault::Algorithm => DenialReason::ProofAlgorithm,
        })?;
        let is_proof = jws
            .media_type
            .as_deref()
            .is_some_and(|found| found.eq_ignore_ascii_case("dpop+jwt"));
        if !is_proof {
            return Err(DenialReason::ProofMalformed);
        }
        if !algorithms.contains(jws.algorithm) {
            return Err(DenialReason::ProofAlgorithm);
        }
        let key = match jws.header().find(["jwk"]) {
            Ok([Some(jwk)]) => jwk.object().and_then(PublicKey::from_jwk),
            _ => None,
        };
        let key = key
            .filter(|key| key.fits(jws.algorithm) && key.fits_signature(&jws.signature))
            .ok_or(DenialReason::ProofMalformed)?;
        let found = members(jws.payload())
            .find(["jti", "htm", "htu", "iat", "ath", "nonce"])
            .map_err(|_| DenialReason::ProofMalformed)?;
        let [jti, htm, htu, iat, ath, nonce] = found;
        let claim = |value: Option<Raw<'_>>, name: &'static str| {
            value
                .and_then(text::of)
                .map(|text| text.into_owned())
                .ok_or(DenialReason::ProofClaim(name))
        };
        let id = claim(jti, "jti")?;
        if id.is_empty() || id.len() > MAX_ID {
            return Err(DenialReason::ProofClaim("jti"));
        }
        let (method, url) = (claim(htm, "htm")?, claim(htu, "htu")?);
        let issued = iat
            .and_then(text::time)
            .ok_or(DenialReason::ProofClaim("iat"))?;
        let token_hash = claim(ath, "ath")?;
        let nonce = match nonce {
            Some(nonce) => Some(claim(Some(nonce), "nonce")?),
            None => None,
        };
        Ok(Self {
            jws,
            key,
            nonce,
            id,
            method,
            url,
            token_hash,
            issued,
        })
    }

    /// Checks that the proof was made for a request of this method to this URL, now.
    pub(super) fn check_request(
        &self,
        method: &str,
        url: &str,
        now: UnixTime,
    ) -> Result<(), DenialReason> {
        if self.method != method {
            return Err(DenialReason::ProofClaim("htm"));
        }
        if !is_same_target(&self.url, url) {
            return Err(DenialReason::ProofClaim("htu"));
        }
        if now >= self.useless_from() || self.issued > now.saturating_add(FUTURE) {
            return Err(DenialReason::ProofClaim("iat"));
        }
        Ok(())
    }

    /// Checks that the proof was made for this token.
    pub(super) fn check_token(&self, token: &Digest) -> Result<(), DenialReason> {
        match self.token_hash == URL_SAFE_NO_PAD.encode(token) {
            true => Ok(()),
            false => Err(DenialReason::ProofClaim("ath")),
        }
    }

    /// Returns the text that identifies the proof among all proofs of all keys; to be hashed.
    pub(super) fn replay_input(&self, thumbprint: &str) -> String {
        // A thumbprint has a fixed length, so that the parts cannot be confused.
        alloc::format!("{thumbprint}.{}", self.id)
    }

    /// The moment from which the time alone refuses the proof.
    pub(super) const fn useless_from(&self) -> UnixTime {
        self.issued.saturating_add(PAST + 1)
    }
}

/// Returns true if two URLs are the same without query and fragment; scheme and host are compared
/// without regard to case, paths as they are escaped.
fn is_same_target(left: &str, right: &str) -> bool {
    let without_query = |text: &str| Uri::parse(text).map(|uri| String::from(uri.without_query()));
    let (Ok(left), Ok(right)) = (without_query(left), without_query(right)) else {
        return false;
    };
    match (Uri::parse(&left), Uri::parse(&right)) {
        (Ok(left), Ok(right)) => left.is_same_resource(&right),
        _ => false,
    }
}
