//! The next action of the caller of a check.

use alloc::boxed::Box;
use core::fmt;

use super::admission::Admission;
use super::algorithm::Algorithm;
use super::denial::Denial;
use super::jws::Jws;
use super::key_issuer::IssuerIndex;
use super::public_key::PublicKey;
use crate::Secret;

/// The next action of the caller.
///
/// Keys and signatures are for any library of cryptography: the crate has none. `Debug` shows nothing
/// of the token.
#[non_exhaustive]
pub enum CheckStep<'c> {
    /// Make a nonce of at least 128 random bits, and give it to
    /// [`VerifierState::set_nonce`](super::VerifierState::set_nonce).
    MakeNonce,
    /// Hash these bytes with SHA-256, and give the result to [`TokenCheck::set_digest`](super::TokenCheck::set_digest). They may
    /// contain the token.
    Hash(&'c [u8]),
    /// Hash these bytes, a part of the token, to 128 bits with a function that is keyed, such as SipHash-2-4, and a random key that this
    /// process keeps secret, and give the result to [`TokenCheck::set_fingerprint`](super::TokenCheck::set_fingerprint).
    Fingerprint(&'c [u8]),
    /// Verify a signature, and give the result to [`TokenCheck::set_signature`](super::TokenCheck::set_signature).
    VerifySignature(SignatureToVerify<'c>),
    /// Fetch a document of at most 1 MiB, and give it to [`VerifierState::set_keys`](super::VerifierState::set_keys): the keys of
    /// an issuer, or its metadata, in which the address of the keys is. No other check is asked for
    /// it meanwhile.
    FetchKeys {
        /// The issuer.
        issuer: IssuerIndex,
        /// The URL of the document.
        url: &'c str,
    },
    /// Wait until another check has got the keys of this issuer, or has failed to.
    WaitForKeys {
        /// The issuer.
        issuer: IssuerIndex,
    },
    /// Ask the authorization server about this token (RFC 7662), and give its answer to
    /// [`TokenCheck::set_introspection`](super::TokenCheck::set_introspection).
    Introspect {
        /// The authorization server.
        issuer: &'c str,
        /// The token.
        token: &'c Secret,
    },
    /// Verify this token, and give the result to [`TokenCheck::set_claims`](super::TokenCheck::set_claims).
    VerifyToken(&'c Secret),
    /// The check has ended: the request is admitted, without an admission if it has no token and needs
    /// none, or is refused.
    Done(Result<Option<Box<Admission>>, Denial>),
}

impl fmt::Debug for CheckStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MakeNonce => f.write_str("MakeNonce"),
            Self::Hash(bytes) => write!(f, "Hash({} bytes)", bytes.len()),
            Self::Fingerprint(bytes) => write!(f, "Fingerprint({} bytes)", bytes.len()),
            Self::VerifySignature(signature) => signature.fmt(f),
            Self::FetchKeys { issuer, url } => write!(f, "FetchKeys({issuer:?}, {url})"),
            Self::WaitForKeys { issuer } => write!(f, "WaitForKeys({issuer:?})"),
            Self::Introspect { issuer, .. } => write!(f, "Introspect({issuer})"),
            Self::VerifyToken(_) => f.write_str("VerifyToken"),
            Self::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}

/// A signature that has to be verified.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SignatureToVerify<'c> {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The key, which is one for the algorithm.
    pub key: &'c PublicKey,
    /// The bytes that were signed.
    pub message: &'c [u8],
    /// The signature; with ECDSA both numbers, big-endian, without further encoding.
    pub signature: &'c [u8],
}

impl<'c> SignatureToVerify<'c> {
    pub(super) fn new(jws: &'c Jws, key: &'c PublicKey) -> Self {
        Self {
            algorithm: jws.algorithm,
            key,
            message: jws.message.as_bytes(),
            signature: &jws.signature,
        }
    }
}

impl fmt::Debug for SignatureToVerify<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureToVerify")
            .field("algorithm", &self.algorithm)
            .field("key", self.key)
            .finish_non_exhaustive()
    }
}
