//! The decisions of an application about authorization.

use alloc::string::String;
use core::fmt;

use super::error::{AuthError, Document, Problem, shown_url};
use super::server_metadata::check_endpoint;
use super::{
    ClientIdentity, ClientProof, DpopKey, EndpointAuth, Grant, IdentitySource, PreRegistered,
    Scopes, UnixTime, Uri,
};

/// The configuration of a client for one MCP server. The defaults follow the specification; the
/// switches are for servers that need something else (AU-119).
///
/// ```
/// use mcp_auth::{AuthConfig, Scopes};
///
/// let config = AuthConfig {
///     scopes: Scopes::parse("files:read"),
///     ..AuthConfig::new("https://example.com/mcp", "Demo", "http://127.0.0.1:8765/callback")
/// };
/// assert!(config.check().is_ok());
/// ```
/// `Debug` shows no query of a URL: it may hold a key.
#[derive(Clone)]
pub struct AuthConfig {
    /// The URL of the MCP server, as the user gave it: `https`, or `http` on this machine, because
    /// it receives access tokens.
    pub server: String,
    /// The name of the server's record in a store, in place of the canonical URL: for servers whose URLs
    /// differ in the query, which a canonical URL leaves out and which may hold a key.
    pub record: Option<String>,
    /// Lets `server` be any `http` URL, for networks without other parties.
    pub allow_unencrypted_server: bool,
    /// The name of this client for people.
    pub client_name: String,
    /// The URI that authorization servers redirect users to: `https`, or `http` on this machine
    /// (AU-48).
    pub redirect_uri: String,
    /// Lets the client register itself with a redirect URI of its own for each issuer: `redirect_uri`,
    /// `/` and eight hexadecimal digits of the issuer's hash, so that a response of one authorization
    /// server is not taken for that of another (RFC 9700, section 4.4.2.2). The caller must receive
    /// redirects there.
    pub redirect_per_issuer: bool,
    /// Refuses a response of an authorization server without `iss` even if its metadata does not promise
    /// it (RFC 9207), for clients that have the same redirect URI at several issuers.
    pub require_iss: bool,
    /// The grant that tokens are obtained with.
    pub grant: Grant,
    /// A client that was registered beforehand. It goes before every other identity (AU-40).
    pub pre_registered: Option<PreRegistered>,
    /// The URL of this client's metadata document, and how the document says that the client
    /// authenticates (AU-41).
    pub metadata_document: Option<(String, ClientProof)>,
    /// Lets the client register itself (RFC 7591).
    pub dynamic_registration: bool,
    /// A user may be asked.
    pub interactive: bool,
    /// Scopes that are always asked for, in addition to those that the server names (AU-58).
    pub scopes: Scopes,
    /// Replaces the scopes that the server names by `scopes`.
    pub only_these_scopes: bool,
    /// Asks for `offline_access` where the authorization server lists it (AU-66).
    pub offline_access: bool,
    /// Leaves `resource` out, for servers that refuse it together with `scope`.
    pub omit_resource: bool,
    /// The method of authentication at the token endpoint, in place of the registered or
    /// advertised one.
    pub endpoint_auth: Option<EndpointAuth>,
    /// The key to bind tokens to.
    pub dpop: Option<DpopKey>,
    /// Refuses tokens that are not bound (AU-96).
    pub dpop_required: bool,
    /// The issuer to use if the server names several (AU-35). A registered client without an
    /// issuer of its own uses its secret or key with no other one, and an assertion of a workload
    /// is sent to no other one (AU-36).
    pub preferred_issuer: Option<String>,
    /// Lets the secret of a registered client go to the issuer that the server names, if none is
    /// configured (AU-36): for a server that is trusted as much as the issuer.
    pub trust_named_issuer: bool,
    /// Accepts metadata of the server even if it is about a parent path at the same origin (AU-23).
    pub accept_parent_resource: bool,
    /// Accepts an issuer in metadata that differs by a `/` at the end of its path (AU-37). Without a path
    /// it may always differ so.
    pub ignore_issuer_slash: bool,
    /// The revision that requests for metadata name in `MCP-Protocol-Version` (AU-28).
    pub protocol_version: Option<String>,
}

impl AuthConfig {
    /// A configuration in which a user consents and the client registers itself.
    pub fn new(server: &str, client_name: &str, redirect_uri: &str) -> Self {
        Self {
            server: server.into(),
            record: None,
            allow_unencrypted_server: false,
            client_name: client_name.into(),
            redirect_uri: redirect_uri.into(),
            redirect_per_issuer: false,
            require_iss: false,
            grant: Grant::AuthorizationCode,
            pre_registered: None,
            metadata_document: None,
            dynamic_registration: true,
            interactive: true,
            scopes: Scopes::new(),
            only_these_scopes: false,
            offline_access: true,
            omit_resource: false,
            endpoint_auth: None,
            dpop: None,
            dpop_required: false,
            preferred_issuer: None,
            trust_named_issuer: false,
            accept_parent_resource: false,
            ignore_issuer_slash: false,
            protocol_version: None,
        }
    }

    /// The issuer that the secrets of this client belong to, if it is configured.
    pub(crate) fn own_issuer(&self) -> Option<&String> {
        let client = self.pre_registered.as_ref();
        let has_secret = client.is_some_and(|client| client.proof != ClientProof::Public)
            || matches!(self.grant, Grant::WorkloadIdentity(_));
        let preferred = self.preferred_issuer.as_ref().filter(|_| has_secret);
        client
            .and_then(|client| client.issuer.as_ref())
            .or(preferred)
    }

    /// Returns true if a registration of an earlier run, or a client that was given then, can still
    /// be used.
    pub(crate) fn can_reuse(&self, identity: &ClientIdentity, now: UnixTime) -> bool {
        let registered = identity.redirect_uri.as_deref().unwrap_or_default();
        let has_own_uri = identity.source == IdentitySource::Dynamic && self.redirect_per_issuer;
        // The path of an issuer is known from the registration with it.
        let shared = match has_own_uri {
            true => registered.rsplit_once('/').map(|(shared, _)| shared),
            false => Some(registered),
        };
        matches!(
            identity.source,
            IdentitySource::Dynamic | IdentitySource::Given
        ) && shared == Some(self.redirect_uri.as_str())
            && identity.secret_expires_at.is_none_or(|end| now < end)
    }

    /// Returns the name of the server's record in a store: [`record`](Self::record), or the canonical URL.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for a URL that cannot be used.
    pub fn record_name(&self) -> Result<String, AuthError> {
        match &self.record {
            Some(record) => Ok(record.clone()),
            None => Ok(server_uri(self)?.canonical()),
        }
    }

    /// Returns whether the application has named this issuer.
    pub(crate) fn names_issuer(&self, issuer: &str) -> bool {
        let client = self.pre_registered.as_ref();
        let own = client.and_then(|client| client.issuer.as_ref());
        let mut named = [own, self.preferred_issuer.as_ref()].into_iter().flatten();
        named.any(|named| self.is_same_issuer(named, issuer))
    }

    /// Returns whether two texts name the same issuer (AU-26, AU-37). They are compared to the byte, but
    /// for a `/` at the end: without a path, both spellings are the same URL (RFC 3986, section 6.2.3), and
    /// with one they are if [`ignore_issuer_slash`](Self::ignore_issuer_slash) says so.
    pub fn is_same_issuer(&self, left: &str, right: &str) -> bool {
        let bare = |text| str::strip_suffix(text, '/').unwrap_or(text);
        let has_no_path = || {
            Uri::parse(bare(left)).is_ok_and(|uri| {
                uri.path().is_empty() && uri.query().is_none() && !uri.has_fragment()
            })
        };
        left == right || (bare(left) == bare(right) && (self.ignore_issuer_slash || has_no_path()))
    }

    /// Checks the URLs and their relations.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for the first that cannot be used.
    pub fn check(&self) -> Result<(), AuthError> {
        let unusable = |member| move |reason| fail(Problem::UnusableUrl { member, reason });
        let server = Uri::parse(&self.server).map_err(unusable("server"))?;
        if server.has_fragment() || !(server.is_confidential() || self.allow_unencrypted_server) {
            return Err(fail(Problem::UnsafeUrl("server")));
        }
        if matches!(self.grant, Grant::AuthorizationCode) {
            check_endpoint("redirect_uri", &self.redirect_uri).map_err(fail)?;
        }
        if let Some((url, _)) = &self.metadata_document {
            let uri = Uri::parse(url).map_err(unusable("client_id"))?;
            let has_path = !matches!(uri.path(), "" | "/");
            if !uri.is_https() || !has_path || uri.has_fragment() {
                return Err(fail(Problem::UnsafeUrl("client_id")));
            }
        }
        if let Grant::Enterprise(grant) = &self.grant {
            check_endpoint("token_endpoint", &grant.token_endpoint).map_err(fail)?;
        }
        let has_secret = |client: &PreRegistered| matches!(client.proof, ClientProof::Secret(_));
        if self.pre_registered.as_ref().is_some_and(has_secret)
            && self.own_issuer().is_none()
            && !self.trust_named_issuer
        {
            return Err(fail(Problem::Missing("issuer")));
        }
        if self.dpop_required && self.dpop.is_none() {
            return Err(fail(Problem::Missing("dpop")));
        }
        Ok(())
    }
}

impl fmt::Debug for AuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthConfig")
            .field("server", &shown_url(&self.server))
            .field("grant", &self.grant)
            .field("pre_registered", &self.pre_registered)
            .field("scopes", &self.scopes)
            .field("dpop", &self.dpop)
            .finish_non_exhaustive()
    }
}

fn fail(problem: Problem) -> AuthError {
    AuthError::new(Document::Configuration, "", problem)
}

/// The URL of the MCP server.
pub(crate) fn server_uri(config: &AuthConfig) -> Result<Uri<'_>, AuthError> {
    Uri::parse(&config.server).map_err(|reason| {
        let problem = Problem::UnusableUrl {
            member: "server",
            reason,
        };
        AuthError::new(Document::Configuration, "", problem)
    })
}
