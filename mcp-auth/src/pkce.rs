//! Proof keys for the exchange of authorization codes (RFC 7636).

use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Secret;

/// The verifier of one authorization request. Its SHA-256 travels with the request, the verifier
/// itself with the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeVerifier(Secret);

impl CodeVerifier {
    /// Makes a verifier of 43 characters from 32 random bytes.
    pub fn new(random: &[u8; 32]) -> Self {
        Self(Secret::from(URL_SAFE_NO_PAD.encode(random)))
    }

    /// A verifier that was stored.
    pub(crate) fn stored(text: &str) -> Self {
        Self(Secret::from(text))
    }

    /// The text that is hashed with SHA-256, and sent to the token endpoint.
    pub const fn secret(&self) -> &Secret {
        &self.0
    }

    /// Returns the `code_challenge` of method S256 for the SHA-256 of the verifier.
    pub fn challenge(digest: &[u8; 32]) -> String {
        URL_SAFE_NO_PAD.encode(digest)
    }
}
