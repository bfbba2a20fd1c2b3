//! A secret key, with which parts of tokens are hashed.

use std::io;

use mcp_auth::resource::Fingerprint;
use siphasher::sip128::SipHasher24;

use crate::random;

/// A secret key of this process, with which parts of tokens are hashed. Without the key, bytes of a given
/// fingerprint cannot be found.
pub(crate) struct FingerprintKey(SipHasher24);

impl FingerprintKey {
    /// Draws a key.
    ///
    /// # Errors
    /// The operating system has no randomness.
    pub(crate) fn random() -> io::Result<Self> {
        Ok(Self(SipHasher24::new_with_key(&random::bytes()?)))
    }

    /// Returns the fingerprint of these bytes.
    pub(crate) fn fingerprint(&self, bytes: &[u8]) -> Fingerprint {
        self.0.hash(bytes).as_u128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_depend_on_the_key_and_on_every_byte() {
        let [one, other] = [(); 2].map(|()| FingerprintKey::random().unwrap());
        let token = b".c2lnbmF0dXJl";
        assert_eq!(one.fingerprint(token), one.fingerprint(token));
        assert_ne!(one.fingerprint(token), other.fingerprint(token));
        for at in 0..token.len() {
            let mut changed = *token;
            changed[at] ^= 1;
            assert_ne!(one.fingerprint(token), one.fingerprint(&changed), "{at}");
        }
    }
}
