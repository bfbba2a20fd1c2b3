//! Keys for what the processes of one server say to each other.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// Keys for one purpose, derived from the [`StateKeys`](super::StateKeys) of a server: the processes that
/// share those recognize what another one has written.
#[derive(Clone)]
pub(crate) struct DerivedKeys {
    /// The first signs, every one verifies.
    pub(super) keys: Vec<Hmac<Sha256>>,
    pub(super) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl DerivedKeys {
    /// Signs a text: it travels in base64url, with a dot and its MAC behind it.
    pub(crate) fn sign(&self, body: &[u8]) -> String {
        let mut text = URL_SAFE_NO_PAD.encode(body);
        if let Some(key) = self.keys.first() {
            let tag = key.clone().chain_update(&text).finalize().into_bytes();
            text.push('.');
            URL_SAFE_NO_PAD.encode_string(tag, &mut text);
        }
        text
    }

    /// What was signed, if one of the keys signed it.
    pub(crate) fn verify(&self, signed: &str) -> Option<Vec<u8>> {
        let (text, tag) = signed.split_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        let genuine = self.keys.iter().any(|key| {
            let mac = key.clone().chain_update(text);
            mac.verify_slice(&tag).is_ok()
        });
        genuine.then(|| URL_SAFE_NO_PAD.decode(text).ok()).flatten()
    }

    /// Seconds of wall time since 1970: other processes have to understand them. 0 for a clock before that.
    pub(crate) fn now(&self) -> u64 {
        let since = (self.clock)().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}

/// The SHA-256 of a body as text.
pub(crate) fn digest(body: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(body))
}
