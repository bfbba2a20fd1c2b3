//! Private keys of a client: for assertions and for proofs of possession.

use core::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};

/// A private key that signs with ES256 (P-256) or RS256 (RSA of at least 2048 bits).
///
/// A client authenticates with it ([`Authorization::client_key`](crate::auth::Authorization::client_key))
/// or binds its tokens to it ([`Authorization::dpop`](crate::auth::Authorization::dpop)). `Debug`
/// shows the algorithm only.
///
/// ```
/// use mcp_async::auth::SigningKey;
///
/// let key = SigningKey::generate()?;
/// assert_eq!(key.algorithm(), "ES256");
/// # Ok::<(), mcp_async::auth::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SigningKey(Arc<Inner>);

struct Inner {
    pair: Pair,
    /// The public half as a JSON Web Key.
    public: String,
    pkcs8: Vec<u8>,
}

enum Pair {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

/// The reason why a key cannot be used. It shows nothing of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not a private key in PKCS#8: PEM with the label `PRIVATE KEY`.
    Pem,
    /// The key is neither P-256 nor RSA, or it is damaged, too short or without its public half.
    Key,
    /// The operating system provides no random bytes, or the signature failed.
    Random,
}

impl SigningKey {
    /// Generates a key for ES256.
    ///
    /// # Errors
    ///
    /// [`KeyError::Random`].
    pub fn generate() -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        Self::from_pkcs8(key.map_err(|_| KeyError::Random)?.as_ref())
    }

    /// Reads a key in PKCS#8 as PEM: `-----BEGIN PRIVATE KEY-----`.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let (_, rest) = pem.split_once(BEGIN).ok_or(KeyError::Pem)?;
        let (body, _) = rest.split_once(END).ok_or(KeyError::Pem)?;
        let body: String = body.split_ascii_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| KeyError::Pem)?;
        Self::from_pkcs8(&der)
    }

    /// Reads a key in PKCS#8 as DER.
    ///
    /// # Errors
    ///
    /// [`KeyError::Key`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let (pair, public) = match EcdsaKeyPair::from_pkcs8(algorithm, der, &random) {
            Ok(pair) => {
                // 4, x, y.
                let (_, point) = pair
                    .public_key()
                    .as_ref()
                    .split_at_checked(1)
                    .ok_or(KeyError::Key)?;
                let (x, y) = point.split_at_checked(32).ok_or(KeyError::Key)?;
                let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
                let public = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
                (Pair::Es256(pair), public)
            }
            Err(_) => {
                let pair = RsaKeyPair::from_pkcs8(der).map_err(|_| KeyError::Key)?;
                let parts: RsaPublicKeyComponents<Vec<u8>> = pair.public().into();
                let (n, e) = (
                    URL_SAFE_NO_PAD.encode(parts.n),
                    URL_SAFE_NO_PAD.encode(parts.e),
                );
                let public = format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#);
                (Pair::Rs256(pair), public)
            }
        };
        let pkcs8 = der.to_vec();
        Ok(Self(Arc::new(Inner {
            pair,
            public,
            pkcs8,
        })))
    }

    /// Returns the key in PKCS#8 as PEM, so that it can be stored. This is the secret itself.
    pub fn to_pem(&self) -> String {
        let mut pem = format!("{BEGIN}\n");
        let body = STANDARD.encode(&self.0.pkcs8);
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, later) = rest.split_at_checked(64).unwrap_or((rest, ""));
            pem.push_str(line);
            pem.push('\n');
            rest = later;
        }
        pem.push_str(END);
        pem.push('\n');
        pem
    }

    /// Returns the name of the algorithm (RFC 7518, section 3.1).
    pub fn algorithm(&self) -> &'static str {
        match self.0.pair {
            Pair::Es256(_) => "ES256",
            Pair::Rs256(_) => "RS256",
        }
    }

    /// Returns the public half as a JSON Web Key (RFC 7517).
    pub fn public_jwk(&self) -> &str {
        &self.0.public
    }

    /// Signs a text as JSON Web Signatures have it.
    pub(crate) fn sign(&self, input: &[u8]) -> Result<Vec<u8>, KeyError> {
        let random = SystemRandom::new();
        match &self.0.pair {
            Pair::Es256(pair) => {
                let signature = pair.sign(&random, input).map_err(|_| KeyError::Random)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, input, &mut signature)
                    .map_err(|_| KeyError::Random)?;
                Ok(signature)
            }
        }
    }
}

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pem => "the text is not a private key in PKCS#8 (PEM, BEGIN PRIVATE KEY)",
            Self::Key => "the key is neither a P-256 nor an RSA key that can be used",
            Self::Random => "the key could not be made or used",
        })
    }
}

impl core::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    #[test]
    fn a_key_survives_pem_and_its_signatures_verify() {
        let key = SigningKey::generate().unwrap();
        let again = SigningKey::from_pem(&key.to_pem()).unwrap();
        assert_eq!(again.public_jwk(), key.public_jwk());
        let signature = again.sign(b"text").unwrap();
        assert_eq!(signature.len(), 64);
        let Pair::Es256(pair) = &key.0.pair else {
            panic!("{key:?}");
        };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key());
        assert!(public.verify(b"text", &signature).is_ok());
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_shown() {
        assert_eq!(SigningKey::from_pem("secret").unwrap_err(), KeyError::Pem);
        let pem = format!("{BEGIN}\nAAAA\n{END}");
        assert_eq!(SigningKey::from_pem(&pem).unwrap_err(), KeyError::Key);
        let key = SigningKey::generate().unwrap();
        assert_eq!(
            format!("{key:?}"),
            r#"SigningKey { algorithm: "ES256", .. }"#
        );
    }
}
