//! The signature algorithms of tokens and proofs.

use core::fmt;

/// An asymmetric signature algorithm of JWS (RFC 7518, RFC 8037).
///
/// `none` and the HMAC algorithms are not representable, so no configuration can allow them
/// (AU-18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// ECDSA on P-521 with SHA-512.
    Es512,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    const ALL: [Self; 10] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::EdDsa,
    ];

    /// The value of `alg`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of this `alg`, which is compared with regard to case. `Ed25519` (RFC 9864) is
    /// another name of `EdDSA`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "Ed25519" => Some(Self::EdDsa),
            _ => Self::ALL.into_iter().find(|known| known.name() == name),
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of algorithms.
///
/// ```
/// use mcp_auth::resource::{Algorithm, Algorithms};
///
/// let allowed = Algorithms::of(&[Algorithm::Es256, Algorithm::EdDsa]);
/// assert!(allowed.contains(Algorithm::Es256));
/// assert!(!allowed.contains(Algorithm::Rs256));
/// assert_eq!(Algorithm::from_name("HS256"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Algorithms(u16);

impl Algorithms {
    /// RS256, PS256, ES256, ES384 and EdDSA: what authorization servers sign tokens with.
    pub const DEFAULT: Self = Self::of(&[
        Algorithm::Rs256,
        Algorithm::Ps256,
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::EdDsa,
    ]);

    /// ES256 and EdDSA: what DPoP proofs are signed with.
    pub const PROOFS: Self = Self::of(&[Algorithm::Es256, Algorithm::EdDsa]);

    /// The set of these algorithms.
    pub const fn of(mut algorithms: &[Algorithm]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = algorithms {
            bits |= first.bit();
            algorithms = rest;
        }
        Self(bits)
    }

    /// Returns whether the set contains an algorithm.
    pub const fn contains(self, algorithm: Algorithm) -> bool {
        self.0 & algorithm.bit() != 0
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The algorithms of the set.
    pub fn iter(self) -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL
            .into_iter()
            .filter(move |algorithm| self.contains(*algorithm))
    }
}

impl fmt::Debug for Algorithms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
