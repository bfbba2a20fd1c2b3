//! Public keys as JSON Web Keys (RFC 7517).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::{Object, Raw};

use super::algorithm::Algorithm;
use super::text;

/// A public key, decoded from a JSON Web Key. Integers are big-endian.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// A point on an elliptic curve; both coordinates have the full length of the curve.
    Ec {
        /// The curve.
        curve: Curve,
        /// The first coordinate.
        x: Vec<u8>,
        /// The second coordinate.
        y: Vec<u8>,
    },
    /// A key of Ed25519.
    Ed25519 {
        /// The 32 bytes of the key.
        x: Vec<u8>,
    },
    /// A key of RSA with 2048 to 8192 bits.
    Rsa {
        /// The modulus, without leading zeros.
        n: Vec<u8>,
        /// The exponent, without leading zeros.
        e: Vec<u8>,
    },
}

/// An elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Curve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
}

impl Curve {
    const fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// The bytes of a coordinate.
    const fn len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

impl PublicKey {
    /// Reads a key. `None` if it is malformed, of an unknown type, symmetric, or too short to be
    /// secure, or has a private part.
    pub(super) fn from_jwk(jwk: Object<'_>) -> Option<Self> {
        if has_private_member(jwk) {
            return None;
        }
        let [kty, crv, x, y, n, e] = jwk.find(["kty", "crv", "x", "y", "n", "e"]).ok()?;
        let bytes = |value: Option<Raw<'_>>| URL_SAFE_NO_PAD.decode(&*text::of(value?)?).ok();
        match &*text::of(kty?)? {
            "EC" => {
                let curve = match &*text::of(crv?)? {
                    "P-256" => Curve::P256,
                    "P-384" => Curve::P384,
                    "P-521" => Curve::P521,
                    _ => return None,
                };
                let (x, y) = (bytes(x)?, bytes(y)?);
                let is_whole = x.len() == curve.len() && y.len() == curve.len();
                is_whole.then_some(Self::Ec { curve, x, y })
            }
            "OKP" if &*text::of(crv?)? == "Ed25519" => {
                let x = bytes(x)?;
                (x.len() == 32).then_some(Self::Ed25519 { x })
            }
            "RSA" => {
                let (n, e) = (without_zeros(bytes(n)?), without_zeros(bytes(e)?));
                let is_sound = (256..=1024).contains(&n.len()) && (1..=4).contains(&e.len());
                is_sound.then_some(Self::Rsa { n, e })
            }
            _ => None,
        }
    }

    /// Returns true if signatures of this algorithm are made with keys of this kind.
    pub(super) const fn fits(&self, algorithm: Algorithm) -> bool {
        match (self, algorithm) {
            (Self::Ec { curve, .. }, _) => matches!(
                (curve, algorithm),
                (Curve::P256, Algorithm::Es256)
                    | (Curve::P384, Algorithm::Es384)
                    | (Curve::P521, Algorithm::Es512)
            ),
            (Self::Ed25519 { .. }, _) => matches!(algorithm, Algorithm::EdDsa),
            (Self::Rsa { .. }, _) => matches!(
                algorithm,
                Algorithm::Rs256
                    | Algorithm::Rs384
                    | Algorithm::Rs512
                    | Algorithm::Ps256
                    | Algorithm::Ps384
                    | Algorithm::Ps512
            ),
        }
    }

    /// Returns true if a signature of this key can have this length.
    pub(super) fn fits_signature(&self, signature: &[u8]) -> bool {
        signature.len()
            == match self {
                Self::Ec { curve, .. } => 2 * curve.len(),
                Self::Ed25519 { .. } => 64,
                Self::Rsa { n, .. } => n.len(),
            }
    }

    /// The text whose SHA-256 is the thumbprint of the key (RFC 7638, section 3).
    pub(super) fn thumbprint_input(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Ec { curve, x, y } => format!(
                r#"{{"crv":"{}","kty":"EC","x":"{}","y":"{}"}}"#,
                curve.name(),
                text(x),
                text(y)
            ),
            Self::Ed25519 { x } => {
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, text(x))
            }
            Self::Rsa { n, e } => {
                format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, text(e), text(n))
            }
        }
    }
}

impl fmt::Debug for PublicKey {
    /// The kind of the key only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ec { curve, .. } => write!(f, "Ec({})", curve.name()),
            Self::Ed25519 { .. } => f.write_str("Ed25519"),
            Self::Rsa { n, .. } => write!(f, "Rsa({} bits)", n.len() * 8),
        }
    }
}

/// Returns true if a member of a private or symmetric key is present, in any escaping.
fn has_private_member(jwk: Object<'_>) -> bool {
    const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
    jwk.members()
        .any(|(name, _)| PRIVATE.iter().any(|private| name == *private))
}

fn without_zeros(mut bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.drain(..zeros);
    bytes
}
