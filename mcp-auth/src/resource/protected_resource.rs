//! A resource that access tokens protect.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use mcp_proto::http::Head;

use super::admission::Admission;
use super::claims::TokenClaims;
use super::denial::{ChallengeSettings, Denial, DenialReason};
use super::introspection::IntrospectionIssuer;
use super::key_cache::KeyFetchPolicy;
use super::key_issuer::KeyIssuer;
use super::metadata::{Metadata, MetadataResponse};
use super::scope::{RequiredScopes, ScopeHierarchy};
use super::token_policy::TokenPolicy;
use crate::Scheme;

/// A resource that access tokens protect: its settings, which never change.
///
/// State that changes is in a [`VerifierState`](super::VerifierState), which all requests of the resource share.
pub struct ProtectedResource {
    pub(super) metadata: Metadata,
    /// The URL that proofs state.
    pub(super) endpoint: String,
    pub(super) challenges: ChallengeSettings,
    pub(super) tokens: TokenPolicy,
    pub(super) issuers: Vec<KeyIssuer>,
    pub(super) introspection: Option<IntrospectionIssuer>,
    /// True if the application verifies tokens.
    pub(super) has_verifier: bool,
    /// The scopes that every token needs.
    pub(super) scopes: RequiredScopes,
    pub(super) hierarchy: Box<dyn ScopeHierarchy>,
    pub(super) nonce_lifetime: Option<u64>,
    pub(super) allows_anonymous: bool,
    pub(super) key_fetches: KeyFetchPolicy,
    pub(super) introspection_cache: u64,
    pub(super) signature_cache: u64,
}

impl ProtectedResource {
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

    /// Checks that a request which was admitted may do what needs these scopes, in addition to those
    /// that every token needs: for handlers that know only later what they need.
    ///
    /// # Errors
    /// The [`Denial`], whose challenge names all of the scopes: 403, or 401 for a request without a
    /// token.
    pub fn require(
        &self,
        admission: Option<&Admission>,
        needed: &RequiredScopes,
    ) -> Result<(), Denial> {
        let Some(admission) = admission else {
            return match needed.scopes().is_empty() && self.allows_anonymous {
                true => Ok(()),
                false => Err(self.deny(DenialReason::NoCredentials, None, needed, None)),
            };
        };
        match self.suffices(&admission.claims, needed) {
            true => Ok(()),
            false => {
                let reason = DenialReason::InsufficientScope;
                Err(self.deny(reason, Some(admission.scheme), needed, None))
            }
        }
    }

    /// Returns true if a token has these scopes and those that every token needs.
    pub(super) fn suffices(&self, claims: &TokenClaims, needed: &RequiredScopes) -> bool {
        let both = [&self.scopes, needed];
        let mut both = both.into_iter();
        both.all(|needed| needed.are_satisfied(claims.scopes(), &*self.hierarchy))
    }

    pub(super) fn deny(
        &self,
        reason: DenialReason,
        scheme: Option<Scheme>,
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
