//! The rules of a protected resource: which requests need a token, what a token must satisfy, and
//! what the response says otherwise.
//!
//! The crate verifies no signature, computes no hash and fetches no document: [`TokenCheck`] states
//! what is to be done, and the caller answers.
//!
//! ```text
//! TokenCheck                          the check of one request, in steps
//! ProtectedResource   VerifierState   the settings; what requests have in common
//! Denial              Admission           the outcome: a status and challenges, or verified claims
//! ```
//!
//! | Rule | Where |
//! |---|---|
//! | The metadata document and its places (RFC 9728) | [`ProtectedResource::respond_metadata`] |
//! | Where a token may stand, challenges (RFC 6750, RFC 9110) | [`Denial`] |
//! | Signed tokens (RFC 9068), opaque tokens (RFC 7662) | [`CheckStep`], [`TokenClaims`] |
//! | Tokens that are bound to a key (RFC 9449) | [`DpopUse`] |
//! | Scopes of operations | [`RequiredScopes`], [`ProtectedResource::require`] |
//!
//! The state is for one lock that is held while a step is computed, and never while the caller
//! fetches or verifies something. This server has an opaque token that it verifies itself:
//!
//! ```
//! use mcp_auth::resource::{
//!     CheckStep, Admission, ProtectedResource, ResourceRequest, TokenClaims, VerifierState,
//! };
//! use mcp_auth::{Scopes, UnixTime};
//! use mcp_proto::http::Head;
//!
//! const RESOURCE: &str = "https://mcp.example.com/notes";
//! const ISSUER: &str = "https://login.example.com";
//!
//! /// The grant, or the status and the first challenge.
//! fn check(
//!     resource: &ProtectedResource,
//!     state: &mut VerifierState,
//!     head: &impl Head,
//! ) -> Result<Option<Box<Admission>>, (u16, String)> {
//!     let mut check = resource.begin(head, ResourceRequest::default());
//!     loop {
//!         match check.step(resource, state, UnixTime::from_secs(1_000)) {
//!             CheckStep::Hash(_) => check.set_digest([7; 32]), // SHA-256 of any library
//!             CheckStep::VerifyToken(token) => {
//!                 let claims = (token.expose() == "t0ken").then(|| {
//!                     TokenClaims::new(ISSUER, RESOURCE)
//!                         .with_subject("ada")
//!                         .with_scopes(Scopes::parse("notes:read"))
//!                 });
//!                 check.set_claims(claims);
//!             }
//!             CheckStep::Done(outcome) => {
//!                 return outcome.map_err(|denial| {
//!                     (denial.status(), denial.challenges().next().unwrap_or_default().into())
//!                 });
//!             }
//!             other => unreachable!("{other:?}"),
//!         }
//!     }
//! }
//!
//! # struct Post(&'static str);
//! # impl Head for Post {
//! #     fn method(&self) -> &str { "POST" }
//! #     fn path(&self) -> &str { "/notes" }
//! #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
//! #         if !self.0.is_empty() { each("authorization", self.0.as_bytes()); }
//! #     }
//! # }
//! let resource = ProtectedResource::builder(RESOURCE)
//!     .issuer_with_verifier(ISSUER)
//!     .scopes(["notes:read"])
//!     .build()?;
//! let mut state = VerifierState::new(&resource, 1024);
//!
//! let grant = check(&resource, &mut state, &Post("Bearer t0ken")).unwrap().unwrap();
//! assert_eq!(grant.claims.subject(), Some("ada"));
//!
//! let (status, challenge) = check(&resource, &mut state, &Post("")).unwrap_err();
//! assert_eq!(status, 401);
//! assert_eq!(
//!     challenge,
//!     "Bearer scope=\"notes:read\", resource_metadata=\
//!      \"https://mcp.example.com/.well-known/oauth-protected-resource/notes\"",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod algorithm;
mod check_step;
mod claims;
mod credentials;
mod denial;
mod expiring_map;
mod introspection;
mod jws;
mod key_cache;
mod key_issuer;
mod key_source;
mod metadata;
mod nonces;
mod proof;
mod proof_check;
mod protected_resource;
mod public_key;
mod scope;
mod settings;
mod signed_token;
mod text;
mod token_check;
mod token_policy;
mod used_proofs;
mod verified_tokens;
mod verifier_state;

// A resource and its settings.
pub use algorithm::{Algorithm, Algorithms};
pub use denial::DpopUse;
pub use key_cache::KeyFetchPolicy;
pub use key_issuer::IssuerIndex;
pub use metadata::MetadataResponse;
pub use protected_resource::ProtectedResource;
pub use settings::{ResourceBuilder, SettingsError};
pub use verifier_state::VerifierState;

// Scopes.
pub use scope::{FlatScopes, InvalidScope, RequiredScopes, ScopeHierarchy};

// The check of a request.
pub use check_step::{CheckStep, SignatureToVerify};
pub use public_key::{Curve, PublicKey};
pub use token_check::{ResourceRequest, TokenCheck};

// Its outcome.
pub use admission::Admission;
pub use claims::TokenClaims;
pub use denial::{Denial, DenialReason};

// ID tokens are read like other tokens.
pub(crate) use jws::Jws;

/// A hash of SHA-256.
pub type Digest = [u8; 32];

/// A keyed hash of 128 bits: see [`CheckStep::Fingerprint`].
pub type Fingerprint = u128;
