//! Proofs of possession (RFC 9449).

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::Raw;

use super::Uri;
use super::error::{AuthError, Document, Problem};
use super::jwt::{JsonText, SigningKey, SigningRequest};

/// The public half of the key that tokens are bound to. The caller has the private half.
///
/// ```
/// use mcp_auth::DpopKey;
///
/// let key = DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#)?;
/// assert_eq!(key.thumbprint_input(), r#"{"crv":"P-256","kty":"EC","x":"l8t","y":"9VE"}"#);
/// assert!(DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE","d":"870"}"#).is_err());
/// # Ok::<(), mcp_auth::AuthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DpopKey {
    algorithm: String,
    jwk: String,
}

impl DpopKey {
    /// Takes an asymmetric algorithm and the public key as a JSON Web Key (RFC 7517). Only the
    /// members that the key type requires are kept.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for an algorithm or a key that cannot be used, and for a private key (AU-99).
    pub fn new(algorithm: &str, jwk: &str) -> Result<Self, AuthError> {
        let fail = |problem| AuthError::new(Document::Configuration, "", problem);
        let unsupported = |member, expected| fail(Problem::Unsupported { member, expected });
        if !is_asymmetric(algorithm) {
            return Err(unsupported("alg", "an asymmetric algorithm"));
        }
        let raw = Raw::parse(jwk.as_bytes(), 2).map_err(|fault| fail(Problem::NotJson(fault)))?;
        let object = raw.object();
        let object = object.ok_or_else(|| fail(Problem::NotObject(raw.kind())))?;
        if PRIVATE.iter().any(|name| object.get(name).is_some()) {
            return Err(fail(Problem::Malformed("jwk")));
        }
        let text = |name: &'static str| {
            let value = object.get(name).and_then(Raw::string);
            let value = value.ok_or_else(|| fail(Problem::Missing(name)))?;
            Ok::<_, AuthError>(value.to_string())
        };
        // In the order of a thumbprint (RFC 7638, section 3.2).
        let members: &[&'static str] = match text("kty")?.as_str() {
            "EC" => &["crv", "kty", "x", "y"],
            "OKP" => &["crv", "kty", "x"],
            "RSA" => &["e", "kty", "n"],
            _ => return Err(unsupported("kty", "EC, OKP or RSA")),
        };
        let mut json = JsonText::new();
        for name in members {
            json = json.text(name, &text(name)?);
        }
        Ok(Self {
            algorithm: algorithm.into(),
            jwk: json.end().into_string(),
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The text whose SHA-256, in base64url, is the thumbprint of the key (RFC 7638), `jkt`.
    pub fn thumbprint_input(&self) -> &str {
        &self.jwk
    }

    /// Checks that a server accepts the algorithm; `None` if the server does not say.
    pub(crate) fn check(&self, accepted: Option<&Vec<String>>) -> Result<(), Problem> {
        match accepted.is_none_or(|names| names.contains(&self.algorithm)) {
            true => Ok(()),
            false => Err(Problem::Unsupported {
                member: "dpop_signing_alg_values_supported",
                expected: "the algorithm of the configured key",
            }),
        }
    }
}

/// Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1).
const PRIVATE: &[&str] = &["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

fn is_asymmetric(algorithm: &str) -> bool {
    matches!(
        algorithm,
        "ES256"
            | "ES384"
            | "ES512"
            | "RS256"
            | "RS384"
            | "RS512"
            | "PS256"
            | "PS384"
            | "PS512"
            | "EdDSA"
            | "Ed25519"
    )
}

/// The claims of one proof. Each request needs a proof of its own (AU-97).
#[derive(Clone, Copy, Debug)]
pub struct DpopProof<'p> {
    /// 32 random bytes, never used twice: the `jti`.
    pub id: &'p [u8; 32],
    /// The method of the request.
    pub method: &'p str,
    /// The URL of the request; query and fragment are left out of the proof.
    pub url: &'p str,
    /// The time.
    pub issued_at: super::UnixTime,
    /// The SHA-256 of the access token, where one is presented.
    pub token_hash: Option<&'p [u8; 32]>,
    /// The newest nonce of the server that the request is for.
    pub nonce: Option<&'p str>,
}

impl DpopProof<'_> {
    /// Returns what is to be signed; [`SigningRequest::finish`] returns the value of the field
    /// `DPoP`.
    pub fn to_sign(&self, key: &DpopKey) -> SigningRequest {
        let header = JsonText::new()
            .text("typ", "dpop+jwt")
            .text("alg", &key.algorithm)
            .json("jwk", &key.jwk)
            .end();
        let url = Uri::parse(self.url).map_or(self.url, |uri| uri.without_query());
        let hash = self.token_hash.map(|hash| URL_SAFE_NO_PAD.encode(hash));
        let claims = JsonText::new()
            .text("jti", &URL_SAFE_NO_PAD.encode(self.id))
            .text("htm", self.method)
            .text("htu", url)
            .number("iat", self.issued_at.as_secs())
            .optional_text("ath", hash.as_deref())
            .optional_text("nonce", self.nonce)
            .end();
        SigningRequest::new(SigningKey::Dpop, &key.algorithm, &header, &claims)
    }
}

/// The newest nonce of each origin, for one kind of server: those of authorization servers and
/// those of the MCP server are kept apart (AU-98).
#[derive(Clone, Debug, Default)]
pub struct DpopNonces(VecDeque<(String, String)>);

impl DpopNonces {
    /// The most origins that are remembered.
    const MOST: usize = 8;

    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Returns the newest nonce of the server at this URL.
    pub fn get(&self, url: &str) -> Option<&str> {
        let origin = Uri::parse(url).ok()?.origin();
        let mut nonces = self.0.iter();
        nonces
            .find(|(other, _)| *other == origin)
            .map(|(_, nonce)| nonce.as_str())
    }

    /// Notes the field `DPoP-Nonce` of a response from this URL. Returns whether it is new and can
    /// be used.
    pub fn set(&mut self, url: &str, nonce: &str) -> bool {
        // RFC 9449, section 8.1: the characters of a scope.
        let is_sound = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
        if nonce.is_empty() || nonce.len() > 4096 || !nonce.bytes().all(is_sound) {
            return false;
        }
        let Ok(uri) = Uri::parse(url) else {
            return false;
        };
        let origin = uri.origin();
        let is_new = self.get(url) != Some(nonce);
        self.0.retain(|(other, _)| *other != origin);
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((origin, nonce.into()));
        is_new
    }
}
