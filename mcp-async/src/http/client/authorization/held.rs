//! Credentials in use, and the fields of a request that present them.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_auth::{Credentials, DpopKey, DpopProof, Scheme, UnixTime};

use crate::crypto::{SigningKey, sha256, unix_now};
use crate::random;

/// Credentials in use.
pub(in crate::http::client) struct Held {
    pub(super) credentials: Credentials,
    /// True if the store has the credentials.
    pub(super) is_saved: bool,
    token_hash: [u8; 32],
}

impl Held {
    pub(super) fn new(credentials: Credentials, is_saved: bool) -> Self {
        Self {
            token_hash: sha256(credentials.access_token.expose().as_bytes()),
            credentials,
            is_saved,
        }
    }

    /// Returns true if the access token must be replaced and can be, without a user.
    pub(super) fn is_refresh_due(&self, now: UnixTime) -> bool {
        self.credentials.is_expired(now) && self.credentials.refresh_token.is_some()
    }
}

/// The private half of the key that tokens are bound to, with its public half.
#[derive(Clone, Copy)]
pub(super) struct ProofKey<'k> {
    pub(super) public: &'k DpopKey,
    pub(super) private: &'k SigningKey,
}

/// Writes the access token, and the proof of a bound one, into the head of a request.
///
/// # Errors
///
/// The token cannot be sent, or the proof cannot be made. Nothing is shown of either.
pub(super) fn present(
    held: &Held,
    key: Option<ProofKey<'_>>,
    nonce: Option<&str>,
    (method, url): (&str, &str),
    fields: &mut HeaderMap,
) -> Result<(), LocalFault> {
    let value = held.credentials.authorization();
    fields.insert(AUTHORIZATION, sensitive(value.expose())?);
    let dpop = HeaderName::from_static("dpop");
    fields.remove(&dpop);
    if held.credentials.scheme != Scheme::Dpop {
        return Ok(());
    }
    let key = key.ok_or(LocalFault("no key for the bound token"))?;
    let id = random::bytes().map_err(|_| LocalFault("no random bytes"))?;
    let proof = DpopProof {
        id: &id,
        method,
        url,
        issued_at: unix_now(),
        token_hash: Some(&held.token_hash),
        nonce,
    };
    let request = proof.to_sign(key.public);
    let signature = key.private.sign(request.input.as_bytes());
    let signature = signature.map_err(|_| LocalFault("the proof cannot be signed"))?;
    fields.insert(dpop, sensitive(&request.finish(&signature))?);
    Ok(())
}

fn sensitive(text: &str) -> Result<HeaderValue, LocalFault> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| LocalFault("the token cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A fault of this side, without secrets.
#[derive(Clone, Copy, Debug)]
pub(in crate::http::client) struct LocalFault(pub(in crate::http::client) &'static str);
