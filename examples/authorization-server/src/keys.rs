use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use serde_json::{Value, json};

use crate::SetupError;
use crate::secret;

/// A key that signs tokens with ES256 or RS256.
pub struct SigningKey {
    pair: Pair,
    jwk: Value,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Generates a key for ES256.
    ///
    /// # Panics
    ///
    /// The operating system has no random bytes.
    pub fn generate() -> Self {
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .expect("the operating system provides random bytes");
        Self::from_pkcs8(document.as_ref()).expect("the library reads the keys that it generates")
    }

    /// Reads a private key in PEM (`BEGIN PRIVATE KEY`): P-256 for ES256, or RSA with at least 2048
    /// bits for RS256.
    ///
    /// # Errors
    ///
    /// The text is no such key.
    pub fn from_pem(text: &str) -> Result<Self, SetupError> {
        let body: String = text
            .lines()
            .filter(|line| !line.starts_with("-----"))
            .map(str::trim)
            .collect();
        let wrong = |_| SetupError::new("the signing key is no PEM of PKCS#8");
        Self::from_pkcs8(&STANDARD.decode(body).map_err(wrong)?)
    }

    /// Reads a private key in PKCS#8.
    fn from_pkcs8(document: &[u8]) -> Result<Self, SetupError> {
        let random = SystemRandom::new();
        if let Ok(pair) =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document, &random)
        {
            // An uncompressed point: 0x04, then both coordinates.
            let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
            let mut jwk = json!({
                "kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y), "use": "sig", "alg": "ES256",
            });
            jwk["kid"] = thumbprint(&jwk).into();
            return Ok(Self {
                pair: Pair::Ec(pair),
                jwk,
            });
        }
        let wrong = |_| SetupError::new("the signing key is neither P-256 nor RSA");
        let pair = RsaKeyPair::from_pkcs8(document).map_err(wrong)?;
        let public = PublicKeyComponents::<Vec<u8>>::from(pair.public());
        let mut jwk = json!({
            "kty": "RSA", "n": encode(&public.n), "e": encode(&public.e), "use": "sig", "alg": "RS256",
        });
        jwk["kid"] = thumbprint(&jwk).into();
        Ok(Self {
            pair: Pair::Rsa(pair),
            jwk,
        })
    }

    /// The public key as a JWK, with `kid`, `alg` and `use`.
    pub const fn jwk(&self) -> &Value {
        &self.jwk
    }

    /// Signs claims; `kind` is the `typ` of the header, and `alg` and `kid` are those of the key.
    ///
    /// # Panics
    ///
    /// The operating system has no random bytes.
    pub fn sign(&self, kind: &str, claims: &Value) -> String {
        let header = json!({ "typ": kind, "alg": self.jwk["alg"], "kid": self.jwk["kid"] });
        self.sign_with(&header, claims)
    }

    /// Signs claims under a header of the caller.
    ///
    /// # Panics
    ///
    /// The operating system has no random bytes.
    pub fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| encode(value.to_string().as_bytes());
        let input = format!("{}.{}", part(header), part(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ec(pair) => {
                let signature = pair.sign(&random, input.as_bytes());
                encode(signature.expect("random bytes").as_ref())
            }
            Pair::Rsa(pair) => {
                let mut bytes = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, input.as_bytes(), &mut bytes)
                    .expect("the signature has the length of the modulus");
                encode(&bytes)
            }
        };
        format!("{input}.{signature}")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.jwk["kid"]).finish()
    }
}

/// A key of a client that verifies signatures of ES256 or RS256.
#[derive(Debug)]
pub(crate) struct PublicKey(Public);

#[derive(Debug)]
enum Public {
    Ec(Vec<u8>),
    Rsa(PublicKeyComponents<Vec<u8>>),
}

impl PublicKey {
    /// Reads a JWK. `None` for another kind of key, and for a key with private members.
    pub(crate) fn from_jwk(jwk: &Value) -> Option<Self> {
        let private = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
        if private.iter().any(|name| jwk.get(name).is_some()) {
            return None;
        }
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?).ok();
        match (jwk["kty"].as_str()?, jwk["crv"].as_str()) {
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                let point = [&[4][..], &x, &y].concat();
                (x.len() == 32 && y.len() == 32).then_some(Self(Public::Ec(point)))
            }
            ("RSA", _) => Some(Self(Public::Rsa(PublicKeyComponents {
                n: bytes("n")?,
                e: bytes("e")?,
            }))),
            _ => None,
        }
    }

    /// Whether the signature is right; the algorithm must be that of the key.
    pub(crate) fn verify(&self, algorithm: &str, input: &[u8], signature: &[u8]) -> bool {
        match (&self.0, algorithm) {
            (Public::Ec(point), "ES256") => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(input, signature).is_ok()
            }
            (Public::Rsa(key), "RS256") => key
                .verify(&RSA_PKCS1_2048_8192_SHA256, input, signature)
                .is_ok(),
            _ => false,
        }
    }
}

/// The thumbprint of a JWK (RFC 7638): the hash of its required members in order.
pub(crate) fn thumbprint(jwk: &Value) -> String {
    let text = match jwk["kty"].as_str() {
        Some("EC") => format!(
            r#"{{"crv":{},"kty":"EC","x":{},"y":{}}}"#,
            jwk["crv"], jwk["x"], jwk["y"]
        ),
        _ => format!(r#"{{"e":{},"kty":"RSA","n":{}}}"#, jwk["e"], jwk["n"]),
    };
    secret::hash(&text)
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
