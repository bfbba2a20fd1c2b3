//! An issuer of access tokens: its keys, and a token that is valid for an hour.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_async::auth::{Protection, StaticKeys};
use ring::rand::SystemRandom;
use ring::signature::{
    Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};

const RESOURCE: &str = "http://localhost/mcp";
const ISSUER: &str = "https://login.example.com";

/// The algorithm of the signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signed {
    Rs256,
    EdDsa,
}

impl Signed {
    const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Protects a server with the key of the issuer.
    pub(crate) fn protection(self) -> Protection {
        let key = match self {
            Self::Rs256 => {
                let key = RsaPublicKeyComponents::<Vec<u8>>::from(rsa().public_key());
                let (n, e) = (encoded(&key.n), encoded(&key.e));
                format!(r#""kty":"RSA","e":"{e}","n":"{n}""#)
            }
            Self::EdDsa => {
                let x = encoded(ed25519().public_key().as_ref());
                format!(r#""kty":"OKP","crv":"Ed25519","x":"{x}""#)
            }
        };
        let keys = format!(r#"{{"keys":[{{"kid":"k1","use":"sig",{key}}}]}}"#);
        Protection::new(RESOURCE)
            .issuer_with_keys(ISSUER, StaticKeys::new(keys))
            .scopes(["notes:read"])
    }

    pub(crate) fn token(self) -> String {
        let name = self.name();
        let header = format!(r#"{{"alg":"{name}","typ":"at+jwt","kid":"k1"}}"#);
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let (issued, expires) = (since.as_secs(), since.as_secs() + 3_600);
        let claims = format!(
            r#"{{"iss":"{ISSUER}","sub":"ada","client_id":"editor","aud":"{RESOURCE}","scope":"notes:read notes:write","iat":{issued},"exp":{expires}}}"#
        );
        let text = format!(
            "{}.{}",
            encoded(header.as_bytes()),
            encoded(claims.as_bytes())
        );
        let signature = match self {
            Self::Rs256 => {
                let key = rsa();
                let mut signature = vec![0; key.public().modulus_len()];
                let random = SystemRandom::new();
                key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
                    .expect("the signature has the length of the key");
                signature
            }
            Self::EdDsa => ed25519().sign(text.as_bytes()).as_ref().to_vec(),
        };
        format!("{text}.{}", encoded(&signature))
    }
}

/// A key for tests only, with 2048 bits.
fn rsa() -> RsaKeyPair {
    const KEY: &[u8] = include_bytes!("../../../mcp-async/tests/all/protection/keys/rsa.pk8");
    RsaKeyPair::from_pkcs8(KEY).expect("a key")
}

fn ed25519() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key")
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
