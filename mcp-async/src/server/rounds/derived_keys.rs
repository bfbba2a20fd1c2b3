//! Keys for what the processes of one server say to each other.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::keys::TAG;

/// Keys for one purpose, derived from the [`StateKeys`](super::StateKeys) of a server: the processes that
/// share those recognize what another one has written.
#[derive(Clone)]
pub(crate) struct DerivedKeys {
    /// The first signs, every one verifies.
    pub(super) keys: Vec<Hmac<Sha256>>,
    pub(super) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl DerivedKeys {
    /// Signs a message: it travels with its MAC behind it, both in base64url.
    pub(crate) fn sign(&self, mut message: Vec<u8>) -> String {
        if let Some(key) = self.keys.first() {
            let tag = key.clone().chain_update(&message).finalize();
            message.extend_from_slice(&tag.into_bytes());
        }
        let mut signed = String::with_capacity((message.len() * 4).div_ceil(3));
        URL_SAFE_NO_PAD.encode_string(message, &mut signed);
        signed
    }

    /// The message, if one of the keys signed it.
    pub(crate) fn verify(&self, signed: &[u8]) -> Option<Vec<u8>> {
        let mut message = Vec::with_capacity(signed.len());
        URL_SAFE_NO_PAD.decode_vec(signed, &mut message).ok()?;
        let (text, tag) = message.split_at_checked(message.len().checked_sub(TAG)?)?;
        let genuine = self.keys.iter().any(|key| {
            let mac = key.clone().chain_update(text);
            mac.verify_slice(tag).is_ok()
        });
        message.truncate(message.len() - TAG);
        genuine.then_some(message)
    }

    /// Seconds of wall time since 1970: other processes have to understand them. 0 for a clock before that.
    pub(crate) fn now(&self) -> u64 {
        let since = (self.clock)().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}
