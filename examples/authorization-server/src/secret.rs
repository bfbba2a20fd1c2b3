//! Random values, hashes, and comparisons of secrets.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// 256 random bits as text.
///
/// # Panics
///
/// The operating system has no random bytes.
pub(crate) fn random() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the operating system provides random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The SHA-256 of a text, in base64url: a code challenge, a thumbprint.
pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// Compares two secrets by their hashes, so that the time says nothing about them.
pub(crate) fn is_equal(one: &str, other: &str) -> bool {
    hash(one) == hash(other)
}
