//! Proofs of possession of a key (RFC 9449).

use bytes::Bytes;
use http::Request;
use url::Url;

use crate::error::OAuthError;
use crate::jwt::Jwt;
use crate::keys::{PublicKey, thumbprint};
use crate::server::Turn;

/// A proof is at most this many seconds old, or ahead.
const WINDOW: u64 = 300;

/// Checks the proof of a request to the token endpoint, and returns the thumbprint of its key.
///
/// # Errors
///
/// `invalid_dpop_proof`, or `use_dpop_nonce` with a nonce.
pub(crate) fn check(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
    url: &str,
) -> Result<Option<String>, OAuthError> {
    let wrong = OAuthError::invalid_proof;
    let mut proofs = request.headers().get_all("dpop").iter();
    let Some(proof) = proofs.next() else {
        return Ok(None);
    };
    if proofs.next().is_some() {
        return Err(wrong("there are two proofs"));
    }
    let proof = proof.to_str().ok().and_then(Jwt::parse);
    let proof = proof.ok_or_else(|| wrong("it is no JWT"))?;
    let key = PublicKey::from_jwk(&proof.header["jwk"]);
    let key = key.ok_or_else(|| wrong("jwk is no public key for ES256 or RS256"))?;
    let issued = proof.claims["iat"].as_u64().unwrap_or(0);
    let checks = [
        (proof.kind() == Some("dpop+jwt"), "typ is not dpop+jwt"),
        (proof.is_signed_by(&key), "its own key has not signed it"),
        (
            proof.claim("htm") == Some(request.method().as_str()),
            "htm is not the method",
        ),
        (
            is_same_url(proof.claim("htu"), url),
            "htu is not the token endpoint",
        ),
        (
            issued.abs_diff(turn.now) <= WINDOW,
            "iat is too far from now",
        ),
    ];
    if let Some((_, text)) = checks.iter().find(|(holds, _)| !holds) {
        return Err(wrong(text));
    }
    if turn.settings.demands_nonces && !turn.state.is_nonce(proof.claim("nonce")) {
        return Err(OAuthError::use_nonce(turn.state.nonce()));
    }
    let id = proof.claim("jti").ok_or_else(|| wrong("jti is missing"))?;
    let thumbprint = thumbprint(&proof.header["jwk"]);
    let id = format!("proof {thumbprint} {id}");
    let (now, until) = (turn.now, issued + WINDOW + 1);
    if !turn.state.is_first_use(id, now, until) {
        return Err(wrong("it was used before"));
    }
    Ok(Some(thumbprint))
}

/// Compares without query and fragment, after normalization.
fn is_same_url(claim: Option<&str>, url: &str) -> bool {
    let plain = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        url.set_query(None);
        url.set_fragment(None);
        Some(url)
    };
    claim
        .and_then(plain)
        .is_some_and(|claim| Some(claim) == plain(url))
}
