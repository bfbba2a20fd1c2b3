//! The settings of a protected resource.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::algorithm::Algorithms;
use super::denial::{ChallengeSettings, DpopUse};
use super::introspection::IntrospectionIssuer;
use super::key_cache::KeyFetchPolicy;
use super::key_issuer::KeyIssuer;
use super::metadata::{Metadata, WELL_KNOWN};
use super::protected_resource::ProtectedResource;
use super::scope::{FlatScopes, RequiredScopes, ScopeHierarchy};
use super::token_policy::TokenPolicy;
use crate::jwt::JsonText;
use crate::{Scopes, Uri};

/// The settings of a [`ProtectedResource`]. [`build`](Self::build) checks them.
///
/// ```
/// use mcp_auth::resource::ProtectedResource;
///
/// let resource = ProtectedResource::builder("https://mcp.example.com/notes")
///     .issuer("https://login.example.com")
///     .scopes(["notes:read"])
///     .build()?;
/// assert_eq!(
///     resource.metadata_url(),
///     "https://mcp.example.com/.well-known/oauth-protected-resource/notes",
/// );
/// # Ok::<(), mcp_auth::resource::SettingsError>(())
/// ```
#[must_use = "the settings have no effect before `build`"]
pub struct ResourceBuilder {
    resource: String,
    endpoint: Option<String>,
    metadata_url: Option<String>,
    local_path: Option<String>,
    at_root: bool,
    issuers: Vec<KeyIssuer>,
    introspection: Option<IntrospectionIssuer>,
    custom: bool,
    other_servers: Vec<String>,
    scopes: Vec<String>,
    supported: Scopes,
    hierarchy: Box<dyn ScopeHierarchy>,
    name: Option<String>,
    documentation: Option<String>,
    algorithms: Algorithms,
    accept_untyped: bool,
    leeway: u64,
    dpop: DpopUse,
    proof_algorithms: Algorithms,
    nonce_lifetime: Option<u64>,
    allows_anonymous: bool,
    key_fetches: KeyFetchPolicy,
    introspection_cache: Option<u64>,
    signature_cache: u64,
}

impl ProtectedResource {
    /// The settings of the resource with this identifier, which is the URL that clients are given.
    /// Tokens must have it as their audience, byte for byte.
    pub fn builder(resource: impl Into<String>) -> ResourceBuilder {
        ResourceBuilder::new(resource.into())
    }
}

impl ResourceBuilder {
    pub(super) fn new(resource: String) -> Self {
        Self {
            resource,
            endpoint: None,
            metadata_url: None,
            local_path: None,
            at_root: true,
            issuers: Vec::new(),
            introspection: None,
            custom: false,
            other_servers: Vec::new(),
            scopes: Vec::new(),
            supported: Scopes::new(),
            hierarchy: Box::new(FlatScopes),
            name: None,
            documentation: None,
            algorithms: Algorithms::DEFAULT,
            accept_untyped: false,
            leeway: 60,
            dpop: DpopUse::Off,
            proof_algorithms: Algorithms::PROOFS,
            nonce_lifetime: None,
            allows_anonymous: false,
            key_fetches: KeyFetchPolicy::default(),
            introspection_cache: None,
            signature_cache: MAX_SIGNATURE_CACHE,
        }
    }

    /// Trusts an authorization server whose access tokens are JSON Web Tokens. Its metadata says
    /// where its keys are (RFC 8414, OpenID Connect Discovery). The document of the resource names
    /// it.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(KeyIssuer {
            issuer: issuer.into(),
            keys_url: None,
        });
        self
    }

    /// Trusts an authorization server whose access tokens are JSON Web Tokens, signed with one of
    /// the keys at `keys_url`. The document of the resource names it.
    pub fn issuer_with_keys(
        mut self,
        issuer: impl Into<String>,
        keys_url: impl Into<String>,
    ) -> Self {
        self.issuers.push(KeyIssuer {
            issuer: issuer.into(),
            keys_url: Some(keys_url.into()),
        });
        self
    }

    /// Trusts an authorization server that is asked about each token (RFC 7662). There can be one;
    /// it is asked about tokens that are not JSON Web Tokens, and about all tokens if there is no
    /// issuer with keys.
    pub fn issuer_with_introspection(mut self, issuer: impl Into<String>) -> Self {
        self.introspection = Some(IntrospectionIssuer {
            issuer: issuer.into(),
            assume_audience: false,
        });
        self
    }

    /// Takes answers of introspection without `aud` for answers about tokens of this resource. Only
    /// for an authorization server that answers about no others.
    pub fn assume_introspected_audience(mut self) -> Self {
        if let Some(introspection) = &mut self.introspection {
            introspection.assume_audience = true;
        }
        self
    }

    /// Names an authorization server in the document whose tokens a verifier of the application
    /// verifies: [`CheckStep::VerifyToken`](super::CheckStep::VerifyToken) hands them out.
    pub fn issuer_with_verifier(mut self, issuer: impl Into<String>) -> Self {
        self.custom = true;
        self.other_servers.push(issuer.into());
        self
    }

    /// Sets the URL of the endpoint, if it is not that of the resource. Proofs of DPoP state it.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the URL of the metadata document, if it is not at the well-known place (RFC 9728,
    /// section 3.1).
    pub fn metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the path of the endpoint as requests state it, if a proxy removes a prefix of the
    /// published path.
    pub fn local_path(mut self, path: impl Into<String>) -> Self {
        self.local_path = Some(path.into());
        self
    }

    /// Serves no document at the root, `/.well-known/oauth-protected-resource`: for an origin with
    /// several resources.
    pub const fn without_root_document(mut self) -> Self {
        self.at_root = false;
        self
    }

    /// Sets the scopes that every token needs. Challenges name them.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Adds scopes to those that the document lists, which are those that every token needs.
    pub fn supported_scopes<'s>(mut self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        self.supported = self.supported.union(&scopes.into_iter().collect());
        self
    }

    /// Sets which scopes include others.
    pub fn hierarchy(mut self, hierarchy: impl ScopeHierarchy + 'static) -> Self {
        self.hierarchy = Box::new(hierarchy);
        self
    }

    /// Sets the name of the resource that clients show.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL of a page for developers of clients.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Sets the algorithms that tokens may be signed with.
    pub const fn algorithms(mut self, algorithms: Algorithms) -> Self {
        self.algorithms = algorithms;
        self
    }

    /// Accepts tokens without `typ`, or with `JWT`, which several authorization servers issue.
    /// Otherwise `typ` must be `at+jwt` (RFC 9068, section 4), which other tokens of the same
    /// issuer never are.
    pub const fn accept_untyped_tokens(mut self) -> Self {
        self.accept_untyped = true;
        self
    }

    /// Sets the seconds that the clocks of issuers may differ; 60 by default, at most 300.
    pub const fn leeway(mut self, seconds: u64) -> Self {
        self.leeway = if seconds < 300 { seconds } else { 300 };
        self
    }

    /// Sets whether tokens are bound to keys of their clients (RFC 9449).
    pub const fn dpop(mut self, dpop: DpopUse) -> Self {
        self.dpop = dpop;
        self
    }

    /// Sets the algorithms that proofs may be signed with.
    pub const fn proof_algorithms(mut self, algorithms: Algorithms) -> Self {
        self.proof_algorithms = algorithms;
        self
    }

    /// Demands a nonce in each proof. A new one is made after `lifetime` seconds, and is accepted
    /// for twice as long.
    pub const fn demand_nonces(mut self, lifetime: u64) -> Self {
        self.nonce_lifetime = Some(lifetime);
        self
    }

    /// Admits requests without a token to operations that need no scope. A token that is sent must
    /// be valid.
    pub const fn allow_anonymous(mut self) -> Self {
        self.allows_anonymous = true;
        self
    }

    /// Sets how often keys are fetched.
    pub const fn key_fetches(mut self, policy: KeyFetchPolicy) -> Self {
        self.key_fetches = policy;
        self
    }

    /// Sets the seconds for which answers about opaque tokens are kept: 30 by default for those of an authorization
    /// server, and 0 for those of a verifier of the application. A revoked token is accepted for that long, and streams
    /// of a token that states no expiry end then. With 0 each request is a question, and such streams end after 30 seconds.
    ///
    /// The answer that a token is unknown, expired or revoked is kept for 5 seconds.
    pub const fn introspection_cache(mut self, seconds: u64) -> Self {
        self.introspection_cache = Some(seconds);
        self
    }

    /// Sets the seconds for which the signature of a token counts as verified when the token is sent again; 60 by default, at
    /// most 60, and no longer than until the token expires or the keys of the issuer are fetched. With 0 each request
    /// verifies a signature, as requests with a proof always do. Audience, times and scopes are checked for each request.
    pub const fn signature_cache(mut self, seconds: u64) -> Self {
        self.signature_cache = if seconds < MAX_SIGNATURE_CACHE {
            seconds
        } else {
            MAX_SIGNATURE_CACHE
        };
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingsError`] names the first wrong setting.
    pub fn build(mut self) -> Result<ProtectedResource, SettingsError> {
        let resource = address(&self.resource, SettingsError::Resource)?;
        let endpoint = self
            .endpoint
            .take()
            .unwrap_or_else(|| self.resource.clone());
        address(&endpoint, SettingsError::Endpoint)?;
        let metadata_url = self.metadata_url.take();
        let metadata_url = metadata_url.unwrap_or_else(|| well_known(&resource));
        let metadata_uri = address(&metadata_url, SettingsError::MetadataUrl)?;

        let mut servers: Vec<String> = Vec::new();
        let keyed = self.issuers.iter().map(|issuer| &issuer.issuer);
        let introspected = self.introspection.iter().map(|asked| &asked.issuer);
        for issuer in keyed.chain(introspected).chain(&self.other_servers) {
            let uri = address(issuer, SettingsError::Issuer)?;
            // RFC 8414, section 2.
            if uri.query().is_some() {
                return Err(SettingsError::Issuer);
            }
            if !servers.contains(issuer) {
                servers.push(issuer.clone());
            }
        }
        if servers.is_empty() {
            return Err(SettingsError::NoIssuer);
        }
        for (index, one) in self.issuers.iter().enumerate() {
            if let Some(url) = &one.keys_url {
                address(url, SettingsError::KeysUrl)?;
            }
            let before = self.issuers.iter().take(index);
            if before.into_iter().any(|other| other.issuer == one.issuer) {
                return Err(SettingsError::Issuer);
            }
        }
        if self.introspection.is_some() && self.custom {
            return Err(SettingsError::TwoVerifiers);
        }
        let scopes = RequiredScopes::new(&self.scopes).map_err(|_| SettingsError::Scopes)?;
        if self.algorithms.is_empty() || self.proof_algorithms.is_empty() {
            return Err(SettingsError::Algorithms);
        }
        if self.nonce_lifetime == Some(0) {
            return Err(SettingsError::NonceLifetime);
        }

        let document = self.document(&servers, &scopes.scopes().union(&self.supported));
        let local = self.local_path.as_deref();
        let metadata = Metadata::new(document, &metadata_uri, local, self.at_root);
        Ok(ProtectedResource {
            metadata,
            endpoint,
            challenges: ChallengeSettings {
                metadata_url,
                dpop: self.dpop,
                proof_algorithms: self.proof_algorithms,
            },
            tokens: TokenPolicy {
                audience: self.resource,
                algorithms: self.algorithms,
                accept_untyped: self.accept_untyped,
                leeway: self.leeway,
            },
            issuers: self.issuers,
            introspection: self.introspection,
            has_verifier: self.custom,
            scopes,
            hierarchy: self.hierarchy,
            nonce_lifetime: self.nonce_lifetime.filter(|_| self.dpop != DpopUse::Off),
            allows_anonymous: self.allows_anonymous,
            key_fetches: self.key_fetches,
            introspection_cache: self.introspection_cache.unwrap_or(if self.custom {
                0
            } else {
                30
            }),
            signature_cache: self.signature_cache,
        })
    }

    /// Returns the metadata document (RFC 9728, section 2).
    fn document(&self, servers: &[String], scopes: &Scopes) -> String {
        let mut json = JsonText::new()
            .text("resource", &self.resource)
            .texts("authorization_servers", servers.iter().map(String::as_str));
        // AU-11
        let mut scopes = scopes
            .iter()
            .filter(|scope| *scope != "offline_access")
            .peekable();
        if scopes.peek().is_some() {
            json = json.texts("scopes_supported", scopes);
        }
        json = json
            .texts("bearer_methods_supported", ["header"])
            .optional_text("resource_name", self.name.as_deref())
            .optional_text("resource_documentation", self.documentation.as_deref());
        if self.dpop != DpopUse::Off {
            let algorithms = self.proof_algorithms.iter();
            let names = algorithms.map(|algorithm| algorithm.name());
            json = json.texts("dpop_signing_alg_values_supported", names);
        }
        if self.dpop == DpopUse::Required {
            json = json.json("dpop_bound_access_tokens_required", "true");
        }
        json.end().into_string()
    }
}

impl fmt::Debug for ResourceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceBuilder")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

/// The longest that a signature counts as verified, in seconds.
const MAX_SIGNATURE_CACHE: u64 = 60;

/// A URL that a setting may have: over TLS or on this machine, and without fragment.
fn address(text: &str, error: SettingsError) -> Result<Uri<'_>, SettingsError> {
    match Uri::parse(text) {
        Ok(uri) if uri.is_confidential() && !uri.has_fragment() => Ok(uri),
        _ => Err(error),
    }
}

/// The well-known place of the document (RFC 9728, section 3.1).
fn well_known(resource: &Uri<'_>) -> String {
    let url = resource.well_known(WELL_KNOWN);
    match resource.query() {
        Some(query) => alloc::format!("{url}?{query}"),
        None => url,
    }
}

/// A setting that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The resource is not a URL over TLS or on this machine, or has a fragment.
    Resource,
    /// The URL of the endpoint is not one over TLS or on this machine, or has a fragment.
    Endpoint,
    /// The URL of the metadata document is not one over TLS or on this machine, or has a fragment.
    MetadataUrl,
    /// An issuer is not a URL over TLS or on this machine, has a fragment or a query, or occurs
    /// twice.
    Issuer,
    /// The URL of keys is not one over TLS or on this machine, or has a fragment.
    KeysUrl,
    /// No authorization server is named.
    NoIssuer,
    /// There are two ways to verify tokens that are not JSON Web Tokens.
    TwoVerifiers,
    /// A scope is not usable as a requirement: see [`RequiredScopes::new`].
    Scopes,
    /// No algorithm is allowed.
    Algorithms,
    /// Nonces must be valid for some time.
    NonceLifetime,
    /// The client id of the provider is empty, or one of its URLs is not one over TLS or on this machine.
    Provider,
    /// A lifetime of logins is zero.
    Lifetime,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = "must be an https URL (http on loopback) without user and fragment";
        match self {
            Self::Resource => write!(f, "the resource {url}"),
            Self::Endpoint => write!(f, "the endpoint {url}"),
            Self::MetadataUrl => write!(f, "the URL of the metadata {url}"),
            Self::Issuer => write!(f, "an issuer {url} and query, and must occur once"),
            Self::KeysUrl => write!(f, "the URL of the keys {url}"),
            Self::NoIssuer => f.write_str("at least one authorization server must be named"),
            Self::TwoVerifiers => f.write_str(
                "tokens that are not JSON Web Tokens are verified either by introspection or by \
                 the application",
            ),
            Self::Scopes => f.write_str("a required scope is not a scope, or is offline_access"),
            Self::Algorithms => f.write_str("at least one algorithm must be allowed"),
            Self::NonceLifetime => f.write_str("the lifetime of nonces must not be zero"),
            Self::Lifetime => f.write_str("the lifetimes of logins must not be zero"),
            Self::Provider => write!(
                f,
                "the provider needs a client id, and each of its URLs {url}"
            ),
        }
    }
}

impl core::error::Error for SettingsError {}
