//! The settings of a protected endpoint.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_auth::resource::{
    DpopUse, InvalidScope, ProtectedResource, RequiredScopes, ResourceBuilder, VerifierState,
};

use super::guard::{Documents, Opaque, TokenGuard, Verifier};
use super::key_source::{DynKeySource, KeySource};
use super::questions::Questions;
use super::token_verifier::{Introspect, TokenVerifier};
use crate::crypto::FingerprintKey;
use crate::runtime::RuntimeHandle;
use crate::server::RegisterError;

/// The protection of an endpoint with access tokens of OAuth 2.1: see
/// [`Http::protect`](crate::http::Http::protect).
///
/// It needs the URL that clients are given, at least one authorization server, and a way to verify
/// its tokens:
///
/// | Tokens | Setting |
/// |---|---|
/// | JSON Web Tokens, keys found through the metadata of the issuer | `issuer` (feature `http-client`) |
/// | JSON Web Tokens, keys from elsewhere | [`issuer_with_keys`](Self::issuer_with_keys) |
/// | opaque, known to the authorization server (RFC 7662) | [`introspection`](Self::introspection) |
/// | opaque, known to the application | [`verifier`](Self::verifier) |
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::auth::Protection;
/// use mcp_async::net::HttpListener;
///
/// async fn run(server: Server, listen: HttpListener) -> std::io::Result<()> {
///     let protection = Protection::new("https://mcp.example.com/mcp")
///         .issuer("https://login.example.com")
///         .scopes(["notes:read"]);
///     let http = server.http().allow_hosts(["mcp.example.com"]).protect(protection);
///     http.serve(listen).await
/// }
/// ```
#[must_use = "it has no effect before `Http::protect`"]
pub struct Protection {
    resource: String,
    settings: Vec<Setting>,
    keys: Vec<(String, Arc<dyn DynKeySource>)>,
    /// Hosts that the operator has named.
    hosts: Vec<String>,
    documents: Option<MakeDocuments>,
    opaque: Option<Opaque>,
    methods: Vec<(String, Result<RequiredScopes, InvalidScope>)>,
    keeps_tokens: bool,
    max_questions: usize,
    timeout: Duration,
    capacity: usize,
}

/// Makes what fetches documents, given the hosts that the operator has named.
type MakeDocuments = Box<dyn FnOnce(Vec<String>) -> Arc<dyn Documents> + Send>;

type Setting = Box<dyn FnOnce(ResourceBuilder) -> ResourceBuilder + Send>;

impl Protection {
    /// Protects the resource at this URL, which clients are given: `https`, or `http` on this
    /// machine. Tokens must have it as their audience, byte for byte. Behind a proxy it is the URL
    /// that the proxy publishes.
    pub fn new(resource: impl Into<String>) -> Self {
        Self {
            resource: resource.into(),
            settings: Vec::new(),
            keys: Vec::new(),
            hosts: Vec::new(),
            documents: None,
            opaque: None,
            methods: Vec::new(),
            keeps_tokens: false,
            max_questions: 16,
            timeout: Duration::from_secs(10),
            capacity: 10_000,
        }
    }

    /// Changes settings that this type has no method for: names, algorithms, clock differences,
    /// places of the metadata document, how long tokens are remembered. Later calls win.
    ///
    /// ```
    /// use mcp_async::auth::Protection;
    ///
    /// let protection = Protection::new("https://mcp.example.com/mcp")
    ///     .settings(|resource| resource.name("Notes").leeway(30).accept_untyped_tokens());
    /// # let _ = protection;
    /// ```
    pub fn settings(
        mut self,
        change: impl FnOnce(ResourceBuilder) -> ResourceBuilder + Send + 'static,
    ) -> Self {
        self.settings.push(Box::new(change));
        self
    }

    /// Trusts an authorization server whose tokens are JSON Web Tokens, signed with keys of this
    /// source. There can be several.
    pub fn issuer_with_keys(mut self, issuer: impl Into<String>, keys: impl KeySource) -> Self {
        let issuer = issuer.into();
        self.keys.push((issuer.clone(), Arc::new(keys)));
        // The guard finds the source of an issuer by the text that the core has for its keys.
        self.settings(move |resource| resource.issuer_with_keys(issuer.clone(), issuer))
    }

    /// Trusts an authorization server that is asked about each token. There can be one; it is asked
    /// about tokens that are not JSON Web Tokens, and about all if no issuer has keys.
    pub fn introspection(mut self, issuer: impl Into<String>, endpoint: impl Introspect) -> Self {
        let issuer = issuer.into();
        self.opaque = Some(Opaque::Introspect(Arc::new(endpoint)));
        self.settings(move |resource| resource.issuer_with_introspection(issuer))
    }

    /// Names an authorization server whose opaque tokens the application verifies.
    pub fn verifier(mut self, issuer: impl Into<String>, verifier: impl TokenVerifier) -> Self {
        let issuer = issuer.into();
        self.opaque = Some(Opaque::Verify(Arc::new(verifier)));
        self.settings(move |resource| resource.issuer_with_verifier(issuer))
    }

    /// Sets the scopes that every token needs. Challenges and the metadata document name them. A second
    /// call replaces those of the first.
    pub fn scopes<T: Into<String>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.settings(move |resource| resource.scopes(scopes))
    }

    /// Adds scopes that a method needs, in addition to those that every token needs: `tools/call`,
    /// for example. Those of several calls for one method are all needed. The scopes that one tool,
    /// resource or prompt needs are stated by its `scopes`.
    ///
    /// A method that is no request of a client, of the protocol or of the server, is a mistake that
    /// building the service reports.
    pub fn method_scopes<T: AsRef<str>>(
        mut self,
        method: impl Into<String>,
        scopes: impl IntoIterator<Item = T>,
    ) -> Self {
        self.methods
            .push((method.into(), RequiredScopes::new(scopes)));
        self
    }

    /// Sets whether tokens are bound to keys of their clients (RFC 9449). By default they are not,
    /// and only the scheme `Bearer` is accepted.
    pub fn dpop(self, dpop: DpopUse) -> Self {
        self.settings(move |resource| resource.dpop(dpop))
    }

    /// Admits requests without a token, to what needs no scopes of its own. A token that is sent
    /// must be valid.
    pub fn allow_anonymous(self) -> Self {
        self.settings(ResourceBuilder::allow_anonymous)
    }

    /// Leaves `Authorization` in the head that handlers read by
    /// [`CallContext::http`](crate::server::CallContext::http): for handlers that exchange the token
    /// for one of another service (RFC 8693). Otherwise handlers receive the claims only, so that no
    /// token of a client is sent to other services.
    pub const fn keep_tokens(mut self) -> Self {
        self.keeps_tokens = true;
        self
    }

    /// Sets how many questions may be under way about opaque tokens that were valid within the last hour, and
    /// how many about others; 16 of each otherwise. Further ones wait; the users of valid tokens take turns. Of
    /// those about other tokens four times as many may be under way or wait, and of these one address a
    /// [share]; what exceeds that is answered with 503 and `Retry-After`.
    ///
    /// [share]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/http/index.html#shares
    pub const fn max_questions(mut self, questions: usize) -> Self {
        self.max_questions = questions;
        self
    }

    /// Sets how long keys, or an answer about a token, may take; 10 seconds otherwise. Then the
    /// request is answered with 503.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many answers about opaque tokens, how many verified tokens of each issuer, and how many used proofs are
    /// kept; 10,000 of each otherwise.
    pub const fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }
}

#[cfg(feature = "http-client")]
impl Protection {
    /// Trusts an authorization server whose tokens are JSON Web Tokens. Its keys are found through
    /// its metadata (RFC 8414, OpenID Connect Discovery), when the first token arrives.
    ///
    /// Documents have at most 1 MiB, and redirects to other origins are not followed. A URL in the
    /// metadata must be `https`, and must not lead to an address of this machine or of a private
    /// network, unless it has the host of the issuer.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        let issuer = issuer.into();
        self.trust_host(&issuer);
        self.settings(move |resource| resource.issuer(issuer))
    }

    /// Trusts an authorization server whose tokens are JSON Web Tokens, signed with the keys at this
    /// URL.
    pub fn issuer_with_keys_at(
        mut self,
        issuer: impl Into<String>,
        keys_url: impl Into<String>,
    ) -> Self {
        let (issuer, keys_url) = (issuer.into(), keys_url.into());
        self.trust_host(&keys_url);
        self.settings(move |resource| resource.issuer_with_keys(issuer, keys_url))
    }

    /// Sets the client that fetches metadata and keys. The one that is used otherwise trusts the roots
    /// of the operating system, uses the proxies that the environment names, and judges the addresses
    /// of hosts that metadata names:
    /// [`HttpClientBuilder::guard`](crate::net::HttpClientBuilder::guard) is for a client that is to
    /// do so, too.
    pub fn http_client(mut self, client: crate::net::HttpClient) -> Self {
        self.documents = Some(Box::new(|hosts| {
            Arc::new(super::documents::RemoteDocuments::with_client(
                client, hosts,
            ))
        }));
        self
    }

    /// Documents may come from the host of this URL.
    fn trust_host(&mut self, url: &str) {
        self.hosts.extend(super::documents::host_of(url));
        self.documents.get_or_insert_with(|| {
            Box::new(|hosts| Arc::new(super::documents::RemoteDocuments::new(hosts)))
        });
    }
}

impl Protection {
    /// Checks the settings, for an endpoint at this path.
    pub(in crate::http::server) fn build(
        self,
        path: Option<&str>,
        runtime: &RuntimeHandle,
    ) -> Result<TokenGuard, RegisterError> {
        let mistake = |reason: &dyn fmt::Display| RegisterError::setting("protect", reason);
        let mut resource = ProtectedResource::builder(self.resource);
        if let Some(path) = path {
            resource = resource.local_path(path);
        }
        let settings = self.settings.into_iter();
        let resource = settings.fold(resource, |resource, change| change(resource));
        let resource = Arc::new(resource.build().map_err(|error| mistake(&error))?);
        let mut methods = BTreeMap::<_, RequiredScopes>::new();
        for (method, scopes) in self.methods {
            let scopes = scopes
                .map_err(|error| mistake(&format_args!("method_scopes of {method}: {error}")))?;
            let all = methods.entry(method).or_default();
            *all = all.union(&scopes);
        }
        if self.max_questions == 0 {
            return Err(mistake(&"max_questions is zero"));
        }
        let documents = self.documents.map(|make| make(self.hosts));
        if let Some(documents) = &documents {
            documents.start(runtime);
        }
        if let Some(Opaque::Introspect(endpoint)) = &self.opaque {
            endpoint.start(runtime);
        }
        Ok(TokenGuard {
            verifier: Verifier::new(VerifierState::new(&resource, self.capacity)),
            fingerprints: FingerprintKey::random().map_err(|error| mistake(&error))?,
            resource,
            keys: self.keys,
            documents,
            opaque: self.opaque,
            keeps_tokens: self.keeps_tokens,
            questions: Questions::new(self.max_questions),
            timeout: self.timeout,
            methods,
            runtime: runtime.clone(),
        })
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
