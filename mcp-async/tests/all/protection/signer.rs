//! An issuer: keys, and tokens that are signed with them.

use mcp_proto::json::RawBuf;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512, RsaKeyPair, RsaPublicKeyComponents,
};

use crate::protection::support::{ISSUER, RESOURCE, now};

/// The private key of an issuer or a client.
pub(crate) enum Signer {
    Ed25519(Ed25519KeyPair),
    Es256(EcdsaKeyPair),
    Es384(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl Signer {
    /// A key of Ed25519 that follows from one byte.
    pub(crate) fn ed25519(seed: u8) -> Self {
        Self::Ed25519(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap())
    }

    pub(crate) fn es256() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self::Es256(EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).unwrap())
    }

    pub(crate) fn es384() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P384_SHA384_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self::Es384(EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).unwrap())
    }

    /// A key of RSA for tests only, with 2048 bits.
    pub(crate) fn rsa() -> Self {
        let key = RsaKeyPair::from_pkcs8(include_bytes!("keys/rsa.pk8")).unwrap();
        Self::Rsa(Box::new(key))
    }

    /// The public key as a JSON Web Key, without further members.
    pub(crate) fn public_key(&self) -> String {
        match self {
            Self::Ed25519(key) => {
                let x = encoded(key.public_key().as_ref());
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)
            }
            Self::Es256(key) => point("P-256", key),
            Self::Es384(key) => point("P-384", key),
            Self::Rsa(key) => {
                let key = RsaPublicKeyComponents::<Vec<u8>>::from(key.public_key());
                let (n, e) = (encoded(&key.n), encoded(&key.e));
                format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#)
            }
        }
    }

    /// A document with this key only.
    pub(crate) fn key_set(&self, id: &str) -> String {
        let key = self.public_key();
        let key = key.strip_suffix('}').unwrap();
        format!(r#"{{"keys":[{key},"kid":"{id}","use":"sig"}}]}}"#)
    }

    /// SHA-256 of the public key (RFC 7638).
    pub(crate) fn thumbprint(&self) -> String {
        hash(&self.public_key())
    }

    /// A JSON Web Token of this header and payload.
    pub(crate) fn sign(&self, header: &str, payload: &str) -> String {
        let text = format!(
            "{}.{}",
            encoded(header.as_bytes()),
            encoded(payload.as_bytes())
        );
        let is = |algorithm: &str| header.contains(&format!(r#""alg":"{algorithm}""#));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Ed25519(key) => key.sign(text.as_bytes()).as_ref().to_vec(),
            Self::Es256(key) | Self::Es384(key) => key
                .sign(&random, text.as_bytes())
                .unwrap()
                .as_ref()
                .to_vec(),
            Self::Rsa(key) => {
                let padding: &dyn ring::signature::RsaEncoding = match () {
                    () if is("RS384") => &RSA_PKCS1_SHA384,
                    () if is("RS512") => &RSA_PKCS1_SHA512,
                    () if is("PS256") => &RSA_PSS_SHA256,
                    () if is("PS384") => &RSA_PSS_SHA384,
                    () if is("PS512") => &RSA_PSS_SHA512,
                    () => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, text.as_bytes(), &mut signature)
                    .unwrap();
                signature
            }
        };
        format!("{text}.{}", encoded(&signature))
    }

    /// An access token of these claims.
    pub(crate) fn token(&self, id: &str, claims: &Claims) -> String {
        let algorithm = match self {
            Self::Ed25519(_) => "EdDSA",
            Self::Es256(_) => "ES256",
            Self::Es384(_) => "ES384",
            Self::Rsa(_) => "RS256",
        };
        let header = format!(r#"{{"alg":"{algorithm}","typ":"at+jwt","kid":"{id}"}}"#);
        self.sign(&header, &claims.to_json())
    }
}

fn point(curve: &str, key: &EcdsaKeyPair) -> String {
    let point = key.public_key().as_ref();
    let (x, y) = point[1..].split_at(point.len() / 2);
    let (x, y) = (encoded(x), encoded(y));
    format!(r#"{{"crv":"{curve}","kty":"EC","x":"{x}","y":"{y}"}}"#)
}

/// The claims of an access token of ada that is good for a minute, and what differs from that.
#[derive(Clone)]
pub(crate) struct Claims(Vec<(&'static str, String)>);

impl Default for Claims {
    fn default() -> Self {
        let text = |text: &str| format!(r#""{text}""#);
        Self(vec![
            ("iss", text(ISSUER)),
            ("sub", text("ada")),
            ("client_id", text("c1")),
            ("aud", text(RESOURCE)),
            ("scope", text("mcp")),
            ("iat", now().to_string()),
            ("exp", (now() + 60).to_string()),
        ])
    }
}

impl Claims {
    /// Replaces or adds a claim; an empty value takes it away.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.0.retain(|(known, _)| *known != name);
        if !value.is_empty() {
            self.0.push((name, value));
        }
        self
    }

    fn to_json(&self) -> String {
        let members = self
            .0
            .iter()
            .map(|(name, value)| format!(r#""{name}":{value}"#));
        let json = format!("{{{}}}", Vec::from_iter(members).join(","));
        assert!(RawBuf::parse(&*json).is_ok(), "{json}");
        json
    }
}

/// Base64 for URLs, without padding (RFC 4648, section 5).
pub(crate) fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            let index = bits >> (18 - 6 * digit) & 63;
            text.push(char::from(DIGITS[index as usize]));
        }
    }
    text
}

/// SHA-256 in Base64.
pub(crate) fn hash(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    encoded(hash.as_ref())
}
