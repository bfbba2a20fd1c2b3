//! The cryptography of logins.

use mcp_auth::authorization_server::LoginCrypto;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::crypto::sha256;
use crate::random;
use crate::server::{DerivedKeys, StateKeys};

/// Seals with AES-256-GCM, under keys that are derived from those of the server. Each text has a key of its own, of a
/// random salt and its context, so that no nonce is ever used twice.
pub(super) struct LoginKeys(DerivedKeys);

/// The bytes of a salt.
const SALT: usize = 16;

impl LoginKeys {
    pub(super) fn new(keys: &StateKeys) -> Self {
        Self(keys.derive(b"mcp delegated login\0"))
    }

    /// The keys of a text: one for each key of the server, the newest first.
    fn keys(&self, salt: &[u8], context: &str) -> impl Iterator<Item = LessSafeKey> {
        let keys = self.0.derive([salt, context.as_bytes()].concat());
        keys.filter_map(|key| {
            UnboundKey::new(&AES_256_GCM, &key)
                .ok()
                .map(LessSafeKey::new)
        })
    }
}

/// The only nonce of a key.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

impl LoginCrypto for LoginKeys {
    fn random(&self) -> Option<[u8; 32]> {
        random::bytes().ok()
    }

    fn sha256(&self, bytes: &[u8]) -> [u8; 32] {
        sha256(bytes)
    }

    fn seal(&self, context: &str, plain: &[u8]) -> Option<Vec<u8>> {
        let salt = random::bytes::<SALT>().ok()?;
        let key = self.keys(&salt, context).next()?;
        let mut text = plain.to_vec();
        let sealed = key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut text);
        sealed.ok()?;
        Some([&salt[..], &text].concat())
    }

    fn open(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (salt, text) = sealed.split_at_checked(SALT)?;
        self.keys(salt, context).find_map(|key| {
            let mut text = text.to_vec();
            let plain = key.open_in_place(nonce(), Aad::empty(), &mut text);
            plain.ok().map(|plain| plain.to_vec())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_opened_for_their_context_with_a_key_that_is_known() {
        let old = LoginKeys::new(&StateKeys::new([1; 32]));
        let new = LoginKeys::new(&StateKeys::new([2; 32]).previous([1; 32]));
        let sealed = old.seal("login a", b"their token").unwrap();
        assert_ne!(sealed, old.seal("login a", b"their token").unwrap());
        assert!(!sealed.windows(5).any(|part| part == b"token"));
        assert_eq!(old.open("login a", &sealed).unwrap(), b"their token");
        assert_eq!(new.open("login a", &sealed).unwrap(), b"their token");
        assert_eq!(old.open("login b", &sealed), None);
        let newer = new.seal("login a", b"").unwrap();
        assert_eq!(new.open("login a", &newer).unwrap(), b"");
        assert_eq!(old.open("login a", &newer), None);
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert_eq!(old.open("login a", &changed), None);
            assert_eq!(old.open("login a", &sealed[..index]), None);
        }
    }
}
