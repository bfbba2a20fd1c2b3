//! A resource that access tokens protect, and what is known of tokens between requests.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::claims::TokenClaims;
use super::credentials::TokenScheme;
use super::denial::{ChallengeSettings, Denial, DenialReason};
use super::expiring_map::ExpiringMap;
use super::introspection::IntrospectionIssuer;
use super::key_cache::{KeyCache, KeyFetchPolicy};
use super::metadata::{Metadata, MetadataResponse};
use super::nonces::Nonces;
use super::scope::{RequiredScopes, ScopeHierarchy};
use super::settings::ResourceBuilder;
use super::token_check::{ResourceRequest, TokenCheck};
use super::token_policy::TokenPolicy;
use crate::auth::{AuthError, UnixTime};
use crate::http::Head;

/// A resource that access tokens protect: its settings, which never change.
///
/// What changes is in a [`VerifierState`], which all requests of the resource share.
pub struct ProtectedResource {
    pub(super) metadata: Metadata,
    /// The URL that proofs state.
    pub(super) endpoint: String,
    pub(super) challenges: ChallengeSettings,
    pub(super) tokens: TokenPolicy,
    pub(super) issuers: Vec<KeyIssuer>,
    pub(super) introspection: Option<IntrospectionIssuer>,
    /// Whether the application verifies tokens.
    pub(super) has_verifier: bool,
    /// The scopes that every token needs.
    pub(super) scopes: RequiredScopes,
    pub(super) hierarchy: Box<dyn ScopeHierarchy>,
    pub(super) nonce_lifetime: Option<u64>,
    pub(super) allows_anonymous: bool,
    pub(super) key_fetches: KeyFetchPolicy,
    pub(super) introspection_cache: u64,
}

/// An issuer of tokens that are signed.
#[derive(Clone, Debug)]
pub(super) struct KeyIssuer {
    pub(super) issuer: String,
    /// `None` if the metadata of the issuer says where they are.
    pub(super) keys_url: Option<String>,
}

/// A request that a token admits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Grant {
    /// What the token states.
    pub claims: TokenClaims,
    /// The scheme that the token was sent with, which later challenges use.
    pub scheme: TokenScheme,
    /// The value of `DPoP-Nonce` in the response, if the client must change its nonce.
    pub nonce: Option<String>,
}

impl ProtectedResource {
    /// The settings of the resource with this identifier, which is the URL that clients are given.
    /// Tokens must have it as their audience, byte for byte.
    pub fn builder(resource: impl Into<String>) -> ResourceBuilder {
        ResourceBuilder::new(resource.into())
    }

    /// Returns the resource as it is published.
    pub fn resource(&self) -> &str {
        &self.tokens.audience
    }

    /// Returns the seconds for which a token is accepted after it has expired.
    pub const fn leeway(&self) -> u64 {
        self.tokens.leeway
    }

    /// Returns the URL of the metadata document.
    pub fn metadata_url(&self) -> &str {
        &self.challenges.metadata_url
    }

    /// Returns the metadata document.
    pub fn metadata(&self) -> &[u8] {
        self.metadata.document()
    }

    /// Answers a request for the metadata document; `None` if the request is for something else.
    ///
    /// The document needs no token, and is for pages of every origin. Checks of `Host` and `Origin`
    /// do not apply to it (AU-16).
    pub fn respond_metadata(&self, head: &impl Head) -> Option<MetadataResponse<'_>> {
        self.metadata.respond(head)
    }

    /// Begins to check the token of a request. Every other request than those for the metadata
    /// document and preflights of browsers must be checked, before it is processed (AU-05).
    pub fn begin(&self, head: &impl Head, request: ResourceRequest<'_>) -> TokenCheck {
        TokenCheck::begin(self, head, request)
    }

    /// Checks that a request which was admitted may do what needs these scopes, in addition to those
    /// that every token needs: for handlers that know only later what they need.
    ///
    /// # Errors
    /// The [`Denial`], whose challenge names all of the scopes: 403, or 401 for a request without a
    /// token.
    pub fn require(&self, grant: Option<&Grant>, needed: &RequiredScopes) -> Result<(), Denial> {
        let Some(grant) = grant else {
            return match needed.scopes().is_empty() && self.allows_anonymous {
                true => Ok(()),
                false => Err(self.deny(DenialReason::NoCredentials, None, needed, None)),
            };
        };
        match needed.are_satisfied(&grant.claims.scopes, &*self.hierarchy) {
            true => Ok(()),
            false => {
                let reason = DenialReason::InsufficientScope;
                Err(self.deny(reason, Some(grant.scheme), needed, None))
            }
        }
    }

    pub(super) fn deny(
        &self,
        reason: DenialReason,
        scheme: Option<TokenScheme>,
        needed: &RequiredScopes,
        nonce: Option<&str>,
    ) -> Denial {
        let needed = self.scopes.union(needed);
        self.challenges.deny(reason, scheme, &needed, nonce)
    }
}

impl fmt::Debug for ProtectedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedResource")
            .field("resource", &self.resource())
            .finish_non_exhaustive()
    }
}

/// What is known between the requests of a resource: keys of issuers, answers about tokens, proofs
/// that were used, and nonces.
///
/// A server with several processes has one in each. A proof can then be used once in each of them.
///
/// `Debug` shows nothing of it.
pub struct VerifierState {
    pub(super) keys: Vec<KeyCache>,
    /// Answers about tokens, by the hashes of the tokens.
    pub(super) tokens: ExpiringMap<TokenClaims>,
    /// Proofs that were used, by the hashes of their keys and ids.
    pub(super) proofs: ExpiringMap<()>,
    pub(super) nonces: Nonces,
    nonce_lifetime: Option<u64>,
}

/// A proof is remembered for minutes and takes little memory.
const PROOFS_PER_TOKEN: usize = 8;

impl VerifierState {
    /// Knows nothing. Up to `capacity` tokens and eight times as many proofs are kept; if there are
    /// more, those that expire first are forgotten.
    ///
    /// A proof that may be a forgotten one is refused. Clocks of clients may then be late by fewer
    /// seconds, and a client that sends more proofs with times in the future than are kept causes
    /// those of the present to be refused for minutes. Each proof is kept for up to ten minutes:
    /// eight times `capacity` should exceed the requests with proofs in that time.
    pub fn new(resource: &ProtectedResource, capacity: usize) -> Self {
        Self {
            keys: resource.issuers.iter().map(KeyCache::new).collect(),
            tokens: ExpiringMap::new(capacity),
            proofs: ExpiringMap::new(capacity.saturating_mul(PROOFS_PER_TOKEN)),
            nonces: Nonces::default(),
            nonce_lifetime: resource.nonce_lifetime,
        }
    }

    /// Gives the answer to [`CheckStep::FetchKeys`](super::CheckStep::FetchKeys): the body of a
    /// response with status 200, or `None` if there is no such response. Returns whether the
    /// document can be used; one that cannot is treated like none.
    ///
    /// All checks that wait for keys of this issuer have to be continued.
    pub fn set_keys(
        &mut self,
        issuer: IssuerIndex,
        document: Option<&[u8]>,
        now: UnixTime,
    ) -> bool {
        let keys = self.keys.get_mut(issuer.0);
        keys.is_some_and(|keys| keys.receive(document, now))
    }

    /// Why the keys of an issuer are not to be had, for operators: the document and its URL. `None`
    /// if the last fetch succeeded.
    pub fn keys_error(&self, issuer: IssuerIndex) -> Option<&AuthError> {
        self.keys.get(issuer.0)?.error()
    }

    /// Gives the answer to [`CheckStep::MakeNonce`](super::CheckStep::MakeNonce). Returns false if
    /// the text is empty, or has characters that a nonce cannot have; Base64 is suitable.
    ///
    /// If the check of another request was answered meanwhile, its nonce stays in use, and this one
    /// is left out.
    pub fn set_nonce(&mut self, nonce: &str, now: UnixTime) -> bool {
        let lifetime = self.nonce_lifetime;
        let is_due = lifetime.is_none_or(|lifetime| self.nonces.is_due(lifetime, now));
        match is_due {
            true => self.nonces.add(nonce, now),
            false => Nonces::is_sound(nonce),
        }
    }
}

impl fmt::Debug for VerifierState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifierState").finish_non_exhaustive()
    }
}

/// One of the issuers of a resource whose tokens are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IssuerIndex(pub(super) usize);
