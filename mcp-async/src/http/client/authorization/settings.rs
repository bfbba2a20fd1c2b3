//! The settings of an application for the authorization of its client.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use mcp_auth::{
    AuthConfig, AuthError, ClientProof, DpopKey, EndpointAuth, EnterpriseGrant, Grant,
    PreRegistered, Scopes, Secret, Uri,
};
use mcp_proto::Revision;

use super::memory_store::MemoryCredentialStore;
use super::store::{CredentialStore, DynCredentialStore};
use super::user_agent::{DynUserAgent, UserAgent};
use crate::crypto::{SigningKey, sha256};

/// The way in which a client obtains access tokens, for
/// [`ClientBuilder::authorize`](crate::client::ClientBuilder::authorize).
///
/// By default a user consents in the browser of the system: the client finds the authorization
/// server, registers itself, and keeps its tokens in memory. The other ways need no user:
/// [`client_secret`](Self::client_secret), [`client_key`](Self::client_key),
/// [`workload`](Self::workload), [`enterprise`](Self::enterprise).
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::auth::{Authorization, FileCredentialStore};
/// use mcp_async::client::ConnectError;
/// use mcp_async::http::HttpConnector;
///
/// /// Logs a user in, once for all runs of the program.
/// async fn connect(server: HttpConnector) -> Result<Client, ConnectError> {
///     let store = FileCredentialStore::new("/home/ada/.local/state/demo/tokens");
///     let authorization = Authorization::new().store(store).scopes("files:read");
///     Client::builder("demo", "1.0").authorize(authorization).connect(server).await
/// }
/// ```
///
/// `Debug` shows no secret.
#[derive(Clone)]
#[must_use = "an authorization does nothing until it is given to a client"]
pub struct Authorization {
    /// Without the server, the name and the redirect URI, which are filled in at connecting.
    pub(super) config: AuthConfig,
    pub(super) user_agent: Option<Arc<dyn DynUserAgent>>,
    pub(super) store: Arc<dyn DynCredentialStore>,
    pub(super) client_key: Option<SigningKey>,
    pub(super) dpop_key: Option<SigningKey>,
    pub(super) assertion: Option<Assertion>,
    /// Filled in at connecting, so that the order of calls does not matter.
    issuer: Option<String>,
    pub(super) timeout: Duration,
    pub(in crate::http::client) allow_private: bool,
    /// The first setting that cannot be used.
    pub(super) wrong: Option<AuthError>,
}

/// Reads the assertion of the platform.
pub(super) type Assertion = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

impl Authorization {
    /// A user consents in a browser.
    pub fn new() -> Self {
        Self {
            config: AuthConfig::new("", "", ""),
            user_agent: None,
            store: Arc::new(MemoryCredentialStore::new()),
            client_key: None,
            dpop_key: None,
            assertion: None,
            issuer: None,
            timeout: Duration::from_secs(5 * 60),
            allow_private: false,
            wrong: None,
        }
    }

    /// The client acts for itself and authenticates with a secret (client credentials).
    ///
    /// ```
    /// use mcp_async::auth::Authorization;
    ///
    /// let secret = std::env::var("DEMO_SECRET").unwrap_or_default();
    /// let authorization = Authorization::client_secret("demo-client", &secret).issuer("https://login.example");
    /// # drop(authorization);
    /// ```
    pub fn client_secret(client_id: &str, secret: &str) -> Self {
        let mut this = Self::new().registered(client_id, ClientProof::Secret(secret.into()));
        this.config.grant = Grant::ClientCredentials;
        this
    }

    /// The client acts for itself and authenticates with assertions that it signs
    /// (`private_key_jwt`). `key_id` is the `kid` of the key, if the authorization server needs it.
    ///
    /// ```
    /// use mcp_async::auth::{Authorization, KeyError, SigningKey};
    ///
    /// fn authorization(pem: &str) -> Result<Authorization, KeyError> {
    ///     let key = SigningKey::from_pem(pem)?;
    ///     Ok(Authorization::client_key("demo-client", key, None))
    /// }
    /// # let _ = authorization;
    /// ```
    pub fn client_key(client_id: &str, key: SigningKey, key_id: Option<&str>) -> Self {
        let mut this = Self::new().registered_with_key(client_id, key, key_id);
        this.config.grant = Grant::ClientCredentials;
        this
    }

    /// The platform vouches for the workload by an assertion, a JSON Web Token. It is read again
    /// for each token, because platforms replace it, and is sent unchanged. `read` may block
    /// shortly.
    ///
    /// ```
    /// use mcp_async::auth::Authorization;
    ///
    /// let authorization = Authorization::workload(|| std::fs::read_to_string("/var/run/secrets/tokens/mcp"));
    /// # drop(authorization);
    /// ```
    pub fn workload(read: impl Fn() -> io::Result<String> + Send + Sync + 'static) -> Self {
        let mut this = Self::new();
        this.assertion = Some(Arc::new(read));
        this.config.grant = Grant::WorkloadIdentity(mcp_auth::WorkloadGrant {
            assertion: Secret::default(),
        });
        this
    }

    /// The identity provider of an enterprise vouches for the user. The client must be
    /// [registered](Self::registered) with the authorization server of the MCP server as well.
    pub fn enterprise(grant: EnterpriseGrant) -> Self {
        let mut this = Self::new();
        this.config.grant = Grant::Enterprise(grant);
        this
    }

    /// Uses a client id that was registered with the authorization server beforehand.
    pub fn registered(mut self, client_id: &str, proof: ClientProof) -> Self {
        self.config.pre_registered = Some(PreRegistered {
            issuer: None,
            client_id: client_id.to_owned(),
            proof,
        });
        self
    }

    /// Uses a client id whose public key was registered with the authorization server beforehand.
    pub fn registered_with_key(
        mut self,
        client_id: &str,
        key: SigningKey,
        key_id: Option<&str>,
    ) -> Self {
        let proof = ClientProof::PrivateKey {
            algorithm: key.algorithm().into(),
            key_id: key_id.map(str::to_owned),
        };
        self.client_key = Some(key);
        self.registered(client_id, proof)
    }

    /// Sets the issuer: the one with which the client is [registered](Self::registered), if it is,
    /// and the one to prefer if the server names several. The user's secrets go to no other issuer.
    pub fn issuer(mut self, issuer: &str) -> Self {
        self.issuer = Some(issuer.to_owned());
        self.config.preferred_issuer = Some(issuer.to_owned());
        self
    }

    /// Refuses responses of an authorization server that do not name it (`iss`, RFC 9207), even if its
    /// metadata does not promise to. A client with a metadata document or a registered id has the same
    /// redirect URI everywhere: without [`issuer`](Self::issuer), a page that the MCP server names could
    /// lead the user to another authorization server and obtain its code.
    pub fn require_iss(mut self) -> Self {
        self.config.require_iss = true;
        self
    }

    /// Uses the URL of this client's metadata document as its client id, where the authorization
    /// server reads such documents.
    pub fn metadata_document(mut self, url: &str) -> Self {
        self.config.metadata_document = Some((url.to_owned(), ClientProof::Public));
        self
    }

    /// Asks for these scopes, separated by spaces, in addition to those that the server names.
    pub fn scopes(mut self, scopes: &str) -> Self {
        self.config.scopes = self.config.scopes.union(&Scopes::parse(scopes));
        self
    }

    /// Asks for no other scopes than those of [`scopes`](Self::scopes).
    pub fn only_these_scopes(mut self) -> Self {
        self.config.only_these_scopes = true;
        self
    }

    /// Leaves `resource` out of all requests, for authorization servers that refuse it.
    pub fn omit_resource(mut self) -> Self {
        self.config.omit_resource = true;
        self
    }

    /// Authenticates at the token endpoint in this way, whatever its metadata says.
    pub fn endpoint_auth(mut self, method: EndpointAuth) -> Self {
        self.config.endpoint_auth = Some(method);
        self
    }

    /// Binds tokens to this key (DPoP, RFC 9449) where the authorization server supports it. Stored
    /// tokens can be used only with the same key.
    pub fn dpop(mut self, key: SigningKey) -> Self {
        match DpopKey::new(key.algorithm(), key.public_jwk()) {
            Ok(public) => {
                self.config.dpop = Some(public);
                self.dpop_key = Some(key);
            }
            Err(error) => self.wrong = self.wrong.or(Some(error)),
        }
        self
    }

    /// Binds tokens to this key and refuses tokens that are not bound.
    pub fn require_dpop(self, key: SigningKey) -> Self {
        let mut this = self.dpop(key);
        this.config.dpop_required = true;
        this
    }

    /// Changes the settings that have no method here. The URL of the server, the name of the client
    /// and the redirect URI are filled in at connecting.
    pub fn configure(mut self, change: impl FnOnce(&mut AuthConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Sends the user to pages in this way, in place of the browser of the system.
    pub fn user_agent(mut self, user_agent: impl UserAgent) -> Self {
        self.user_agent = Some(Arc::new(user_agent));
        self
    }

    /// Fills in what the client knows.
    pub(in crate::http::client) fn complete(
        &mut self,
        server: String,
        name: &str,
        revision: Option<Revision>,
    ) {
        let config = &mut self.config;
        config.record = config.record.take().or_else(|| record_of(&server));
        config.server = server;
        if let (Some(client), Some(issuer)) = (&mut config.pre_registered, &self.issuer) {
            client.issuer = Some(issuer.clone());
        }
        if config.client_name.is_empty() {
            name.clone_into(&mut config.client_name);
        }
        if config.protocol_version.is_none() {
            config.protocol_version = revision.map(|revision| revision.as_str().to_owned());
        }
    }

    /// The way that was set.
    pub(in crate::http::client) fn chosen_user_agent(&self) -> Option<Arc<dyn DynUserAgent>> {
        self.user_agent.clone()
    }

    /// Never asks a user: if one must consent, the call fails.
    pub fn non_interactive(mut self) -> Self {
        self.config.interactive = false;
        self
    }

    /// Keeps credentials in this store, in place of the memory of the client.
    pub fn store(mut self, store: impl CredentialStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets how long one authorization may take, the user's part and the lock of the store included.
    /// 5 minutes by default. A single request of it has 30 seconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Allows the authorization server of a public MCP server to be in a private network. Without
    /// it, URLs that come from a server lead to public addresses only, and to the network that the
    /// MCP server is in.
    pub fn allow_private_addresses(mut self) -> Self {
        self.allow_private = true;
        self
    }
}

impl Default for Authorization {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("config", &self.config)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The name of the record of a server whose URL has a query: the canonical URL with a hash of the query,
/// which may hold a key.
fn record_of(server: &str) -> Option<String> {
    let server = Uri::parse(server).ok()?;
    let [a, b, c, d, e, f, g, h, ..] = sha256(server.query()?.as_bytes());
    let hash = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    Some(format!("{}?{hash:016x}", server.canonical()))
}
