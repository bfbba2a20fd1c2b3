//! Signatures of JSON Web Tokens.

use mcp_auth::resource::{Algorithm, Curve, PublicKey, SignatureToVerify};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

/// Returns whether a signature is valid. ES512 is not implemented, so its signatures never are.
pub(crate) fn verify(asked: &SignatureToVerify<'_>) -> bool {
    let (message, bytes) = (asked.message, asked.signature);
    let point = |algorithm: &'static dyn VerificationAlgorithm, x: &[u8], y: &[u8]| {
        // SEC 1, section 2.3.3: an uncompressed point.
        let point = [&[4], x, y].concat();
        let key = UnparsedPublicKey::new(algorithm, point);
        key.verify(message, bytes).is_ok()
    };
    let rsa = |algorithm: &'static signature::RsaParameters, n: &[u8], e: &[u8]| {
        let key = RsaPublicKeyComponents { n, e };
        key.verify(algorithm, message, bytes).is_ok()
    };
    match (asked.algorithm, asked.key) {
        (
            Algorithm::Es256,
            PublicKey::Ec {
                curve: Curve::P256,
                x,
                y,
            },
        ) => point(&signature::ECDSA_P256_SHA256_FIXED, x, y),
        (
            Algorithm::Es384,
            PublicKey::Ec {
                curve: Curve::P384,
                x,
                y,
            },
        ) => point(&signature::ECDSA_P384_SHA384_FIXED, x, y),
        (Algorithm::EdDsa, PublicKey::Ed25519 { x }) => {
            let key = UnparsedPublicKey::new(&signature::ED25519, x);
            key.verify(message, bytes).is_ok()
        }
        (Algorithm::Rs256, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PKCS1_2048_8192_SHA256, n, e)
        }
        (Algorithm::Rs384, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PKCS1_2048_8192_SHA384, n, e)
        }
        (Algorithm::Rs512, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PKCS1_2048_8192_SHA512, n, e)
        }
        (Algorithm::Ps256, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PSS_2048_8192_SHA256, n, e)
        }
        (Algorithm::Ps384, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PSS_2048_8192_SHA384, n, e)
        }
        (Algorithm::Ps512, PublicKey::Rsa { n, e }) => {
            rsa(&signature::RSA_PSS_2048_8192_SHA512, n, e)
        }
        _ => false,
    }
}
