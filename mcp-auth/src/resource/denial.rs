//! The reasons for which a request is refused, and the response that states them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write as _;

use super::algorithm::Algorithms;
use super::scope::RequiredScopes;
use crate::Scheme;

/// The refusal of a request: a status and header fields.
///
/// `Debug` and `Display` show nothing of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    reason: DenialReason,
    challenges: Vec<String>,
    nonce: Option<String>,
    /// All that the operation needs.
    needed: RequiredScopes,
}

impl Denial {
    /// Returns the reason.
    pub const fn reason(&self) -> DenialReason {
        self.reason
    }

    /// Returns the HTTP status (AU-01).
    pub const fn status(&self) -> u16 {
        self.reason.status()
    }

    /// The values of `WWW-Authenticate`, each for a field of its own. Empty with the statuses
    /// 500 and 503.
    pub fn challenges(&self) -> impl Iterator<Item = &str> {
        self.challenges.iter().map(String::as_str)
    }

    /// Returns the value of `DPoP-Nonce`, if the response has one (AU-98).
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        match self.reason {
            DenialReason::InsufficientScope => write!(f, "; needed: {}", self.needed.scopes()),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Denial {}

/// Reasons for which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenialReason {
    /// There is no token.
    NoCredentials,
    /// `Authorization` has a scheme that the server does not know.
    UnsupportedScheme,
    /// The query has a parameter `access_token` (AU-12).
    TokenInQuery,
    /// `Authorization` occurs twice.
    AuthorizationTwice,
    /// `Authorization` has a scheme and no token, or text that is not a token.
    AuthorizationMalformed,
    /// The token is longer than the server accepts.
    TokenTooLong,
    /// The scheme `Bearer` is not accepted, because tokens must be bound to a key.
    BearerNotAccepted,
    /// The token is not a signed JSON Web Token.
    TokenMalformed,
    /// The token is signed with an algorithm that is not allowed (AU-18).
    AlgorithmNotAllowed,
    /// `typ` of the token is not that of an access token.
    TokenType,
    /// The token has no `typ`, or `JWT`, which only
    /// [`accept_untyped_tokens`](super::ResourceBuilder::accept_untyped_tokens) accepts.
    UntypedToken,
    /// The header of the token has `crit`.
    CriticalHeader,
    /// This claim is missing or malformed.
    Claim(&'static str),
    /// The issuer is not trusted.
    Issuer,
    /// The token was issued for another resource (AU-06).
    Audience,
    /// The token has expired.
    Expired,
    /// The token is not valid yet.
    NotYetValid,
    /// The key of the signature is not among the keys of the issuer.
    UnknownKey,
    /// The signature of the token is wrong.
    Signature,
    /// The authorization server does not know the token, or has revoked it.
    Inactive,
    /// The token states neither a subject nor a client, so its sender has no identity.
    NoIdentity,
    /// The token is bound to a key and was sent with the scheme `Bearer` (AU-112).
    BoundToken,
    /// The token is not bound to a key and was sent with the scheme `DPoP` (AU-112).
    UnboundToken,
    /// The token is bound in a way that the server cannot verify.
    UnsupportedBinding,
    /// The field `DPoP` is missing.
    ProofMissing,
    /// The field `DPoP` occurs twice (AU-112).
    ProofTwice,
    /// The proof is not a signed JSON Web Token with a public key, of the type `dpop+jwt`.
    ProofMalformed,
    /// The proof is signed with an algorithm that is not allowed.
    ProofAlgorithm,
    /// The signature of the proof is wrong.
    ProofSignature,
    /// The proof is for another method, URL, token or time, as this claim states.
    ProofClaim(&'static str),
    /// The proof is signed with another key than the one that the token is bound to.
    ProofKey,
    /// The proof was used before.
    ProofReplayed,
    /// The proof lacks a current nonce.
    NonceNeeded,
    /// The scopes of the token do not suffice (AU-09).
    InsufficientScope,
    /// The token could not be verified, because keys or an answer of the authorization server are
    /// not available (AU-18).
    VerifierUnavailable,
    /// The caller gave an answer that was not asked for.
    UnexpectedAnswer,
}

/// The `error` of a challenge (RFC 6750, section 3.1; RFC 9449, section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorCode {
    /// No attribute: no credentials that the server knows were sent.
    Absent,
    InvalidRequest,
    InvalidToken,
    InvalidProof,
    UseNonce,
    InsufficientScope,
    /// No challenge.
    Internal,
}

impl ErrorCode {
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::Absent | Self::Internal => None,
            Self::InvalidRequest => Some("invalid_request"),
            Self::InvalidToken => Some("invalid_token"),
            Self::InvalidProof => Some("invalid_dpop_proof"),
            Self::UseNonce => Some("use_dpop_nonce"),
            Self::InsufficientScope => Some("insufficient_scope"),
        }
    }
}

impl DenialReason {
    /// Returns the HTTP status.
    pub const fn status(self) -> u16 {
        match self.code() {
            ErrorCode::InvalidRequest => 400,
            ErrorCode::InsufficientScope => 403,
            ErrorCode::Internal => match self {
                Self::VerifierUnavailable => 503,
                _ => 500,
            },
            _ => 401,
        }
    }

    /// Returns what the operator of the server can do about it, for its log: the setting that accepts
    /// such requests.
    pub const fn advice(self) -> Option<&'static str> {
        match self {
            Self::UntypedToken => Some(
                "`accept_untyped_tokens` of the protection's settings accepts tokens of this authorization server",
            ),
            _ => None,
        }
    }

    const fn code(self) -> ErrorCode {
        match self {
            Self::NoCredentials | Self::UnsupportedScheme => ErrorCode::Absent,
            Self::TokenInQuery
            | Self::AuthorizationTwice
            | Self::AuthorizationMalformed
            | Self::TokenTooLong => ErrorCode::InvalidRequest,
            Self::ProofMissing
            | Self::ProofTwice
            | Self::ProofMalformed
            | Self::ProofAlgorithm
            | Self::ProofSignature
            | Self::ProofClaim(_)
            | Self::ProofKey
            | Self::ProofReplayed => ErrorCode::InvalidProof,
            Self::NonceNeeded => ErrorCode::UseNonce,
            Self::InsufficientScope => ErrorCode::InsufficientScope,
            Self::VerifierUnavailable | Self::UnexpectedAnswer => ErrorCode::Internal,
            _ => ErrorCode::InvalidToken,
        }
    }

    /// Returns the texts of an `error_description`: a claim, and a sentence of characters that an
    /// `error_description` may have.
    const fn pieces(self) -> (&'static str, &'static str) {
        match self {
            Self::Claim(claim) | Self::ProofClaim(claim) => (claim, self.sentence()),
            _ => ("", self.sentence()),
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::NoCredentials => "an access token is required",
            Self::UnsupportedScheme => "the scheme of Authorization is not supported",
            Self::TokenInQuery => "the access token must be in Authorization, not in the query",
            Self::AuthorizationTwice => "Authorization occurs twice",
            Self::AuthorizationMalformed => "Authorization must be a scheme and a token",
            Self::TokenTooLong => "the access token is too long",
            Self::BearerNotAccepted => "the access token must be sent with the scheme DPoP",
            Self::TokenMalformed => "the access token is malformed",
            Self::AlgorithmNotAllowed => "the algorithm of the access token is not allowed",
            Self::TokenType => "the token is not an access token",
            Self::UntypedToken => "the type of the access token is not at+jwt",
            Self::CriticalHeader => "the access token has critical headers that are not supported",
            Self::Claim(_) => " of the access token is missing or malformed",
            Self::Issuer => "the issuer of the access token is not trusted",
            Self::Audience => "the access token was issued for another resource",
            Self::Expired => "the access token has expired",
            Self::NotYetValid => "the access token is not valid yet",
            Self::UnknownKey => "the key of the access token is unknown",
            Self::Signature => "the signature of the access token is wrong",
            Self::Inactive => "the access token is unknown, expired or revoked",
            Self::NoIdentity => "the access token states neither a subject nor a client",
            Self::BoundToken => "the access token is bound to a key and needs the scheme DPoP",
            Self::UnboundToken => "the access token is not bound to a key",
            Self::UnsupportedBinding => {
                "the access token is bound to its client in a way that is not supported"
            }
            Self::ProofMissing => "the field DPoP is missing",
            Self::ProofTwice => "the field DPoP occurs twice",
            Self::ProofMalformed => "the DPoP proof is malformed",
            Self::ProofAlgorithm => "the algorithm of the DPoP proof is not allowed",
            Self::ProofSignature => "the signature of the DPoP proof is wrong",
            Self::ProofClaim(_) => " of the DPoP proof is missing or wrong",
            Self::ProofKey => {
                "the DPoP proof is signed with another key than the token is bound to"
            }
            Self::ProofReplayed => "the DPoP proof was used before",
            Self::NonceNeeded => "the DPoP proof needs the current nonce",
            Self::InsufficientScope => "the scopes of the access token are not sufficient",
            Self::VerifierUnavailable => "access tokens cannot be verified at the moment",
            Self::UnexpectedAnswer => "the access token could not be verified",
        }
    }
}

impl fmt::Display for DenialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (claim, sentence) = self.pieces();
        f.write_str(claim)?;
        f.write_str(sentence)
    }
}

/// The settings that all challenges of a resource share.
#[derive(Clone, Debug)]
pub(super) struct ChallengeSettings {
    /// The address of the metadata document.
    pub(super) metadata_url: String,
    pub(super) dpop: DpopUse,
    pub(super) proof_algorithms: Algorithms,
}

/// The use of tokens that are bound to keys of their clients (RFC 9449).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DpopUse {
    /// Only `Bearer` is accepted.
    #[default]
    Off,
    /// `Bearer` and `DPoP` are accepted. A bound token must be sent with `DPoP`.
    Accepted,
    /// Only `DPoP` is accepted.
    Required,
}

impl ChallengeSettings {
    /// The response to a request that is refused. `scheme` is the one that the request used, and
    /// `needed` are all scopes that its operation needs.
    pub(super) fn deny(
        &self,
        reason: DenialReason,
        scheme: Option<Scheme>,
        needed: &RequiredScopes,
        nonce: Option<&str>,
    ) -> Denial {
        let mut challenges = Vec::new();
        if reason.code() != ErrorCode::Internal {
            let main = self.main_scheme(reason, scheme);
            challenges.push(self.challenge(main, Some(reason), needed));
            // Other schemes are an alternative for who has no usable token, and none for a token
            // that only lacks scopes, or is asked for a nonce.
            let other = match main {
                Scheme::Bearer => Scheme::Dpop,
                Scheme::Dpop => Scheme::Bearer,
            };
            if self.accepts(other)
                && matches!(reason.code(), ErrorCode::Absent | ErrorCode::InvalidToken)
            {
                challenges.push(self.challenge(other, None, needed));
            }
        }
        Denial {
            reason,
            challenges,
            nonce: nonce.map(String::from),
            needed: needed.clone(),
        }
    }

    pub(super) fn accepts(&self, scheme: Scheme) -> bool {
        match scheme {
            Scheme::Bearer => self.dpop != DpopUse::Required,
            Scheme::Dpop => self.dpop != DpopUse::Off,
        }
    }

    /// The scheme whose challenge states the error: the one that was used, if it is accepted.
    fn main_scheme(&self, reason: DenialReason, used: Option<Scheme>) -> Scheme {
        match used {
            _ if matches!(reason.code(), ErrorCode::InvalidProof | ErrorCode::UseNonce) => {
                Scheme::Dpop
            }
            // RFC 9449, section 7.1: what the client has to change is the scheme.
            _ if reason == DenialReason::BoundToken && self.dpop != DpopUse::Off => Scheme::Dpop,
            Some(scheme) if self.accepts(scheme) => scheme,
            _ if self.accepts(Scheme::Bearer) => Scheme::Bearer,
            _ => Scheme::Dpop,
        }
    }

    /// No value needs escaping: scopes, URLs, names and sentences have neither quotation marks nor
    /// backslashes.
    fn challenge(
        &self,
        scheme: Scheme,
        reason: Option<DenialReason>,
        needed: &RequiredScopes,
    ) -> String {
        let mut text = String::from(scheme.as_str());
        let mut separator = " ";
        let mut parameter = |name: &str, value: &dyn fmt::Display| {
            text.push_str(separator);
            // Writing to a string does not fail.
            let _ = write!(text, "{name}=\"{value}\"");
            separator = ", ";
        };
        let code = reason.and_then(|reason| reason.code().name());
        if let Some(code) = code {
            parameter("error", &code);
        }
        if let Some(reason) = reason.filter(|_| code.is_some()) {
            parameter("error_description", &reason);
        }
        if !needed.scopes().is_empty() {
            parameter("scope", needed.scopes());
        }
        parameter("resource_metadata", &self.metadata_url);
        if scheme == Scheme::Dpop {
            let names: Vec<&str> = self
                .proof_algorithms
                .iter()
                .map(|algorithm| algorithm.name())
                .collect();
            parameter("algs", &names.join(" "));
        }
        text
    }
}
