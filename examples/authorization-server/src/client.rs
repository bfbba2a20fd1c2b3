use serde_json::Value;

use crate::secret;

/// A client that is registered at the server.
///
/// ```
/// use authorization_server::Client;
///
/// let desk = Client::public("desk").redirect("http://127.0.0.1/callback");
/// let robot = Client::confidential("robot", "s3cret").grants(["client_credentials"]);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Client {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) proof: Proof,
    pub(crate) redirects: Vec<String>,
    pub(crate) grants: Vec<String>,
    pub(crate) dpop_bound: bool,
}

/// How a client authenticates at the token endpoint.
#[derive(Clone)]
pub(crate) enum Proof {
    None,
    Basic(String),
    Post(String),
    /// With an assertion that one of these JWKs verifies.
    Key(Vec<Value>),
}

impl Client {
    /// A client without a secret, for the code and the refresh grant.
    pub fn public(id: impl Into<String>) -> Self {
        Self::new(id, Proof::None)
    }

    /// A client that authenticates with `client_secret_basic`, for the code and the refresh grant.
    pub fn confidential(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::new(id, Proof::Basic(secret.into()))
    }

    /// A client that authenticates with `private_key_jwt`; the keys are JWKs.
    pub fn with_keys(id: impl Into<String>, keys: impl IntoIterator<Item = Value>) -> Self {
        Self::new(id, Proof::Key(keys.into_iter().collect()))
    }

    pub(crate) fn new(id: impl Into<String>, proof: Proof) -> Self {
        Self {
            id: id.into(),
            name: None,
            proof,
            redirects: Vec::new(),
            grants: vec!["authorization_code".into(), "refresh_token".into()],
            dpop_bound: false,
        }
    }

    /// Adds a redirect URI. The port of a loopback address is free.
    pub fn redirect(mut self, uri: impl Into<String>) -> Self {
        self.redirects.push(uri.into());
        self
    }

    /// The values of `grant_type` that the client may use, in place of the default.
    pub fn grants<G: Into<String>>(mut self, grants: impl IntoIterator<Item = G>) -> Self {
        self.grants = grants.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    pub(crate) fn may(&self, grant: &str) -> bool {
        self.grants.iter().any(|allowed| allowed == grant)
    }

    pub(crate) fn is_redirect(&self, uri: &str) -> bool {
        self.redirects.iter().any(|known| is_same(known, uri))
    }
}

impl Proof {
    /// The value of `token_endpoint_auth_method`.
    pub(crate) const fn method(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic(_) => "client_secret_basic",
            Self::Post(_) => "client_secret_post",
            Self::Key(_) => "private_key_jwt",
        }
    }

    pub(crate) fn is_secret(&self, sent: &str) -> bool {
        match self {
            Self::Basic(secret) | Self::Post(secret) => secret::is_equal(secret, sent),
            Self::None | Self::Key(_) => false,
        }
    }
}

impl core::fmt::Debug for Proof {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.method())
    }
}

/// Whether the URIs are identical, or differ in the port of a loopback address only (RFC 8252,
/// section 7.3).
fn is_same(registered: &str, requested: &str) -> bool {
    let without_port = |text: &str| {
        let mut uri = url::Url::parse(text).ok()?;
        is_loopback(&uri).then(|| uri.set_port(None).ok())??;
        Some(uri)
    };
    registered == requested
        || without_port(registered).is_some_and(|uri| Some(uri) == without_port(requested))
}

/// Whether the URI is `http` on a loopback address or on `localhost`.
pub(crate) fn is_loopback(uri: &url::Url) -> bool {
    let host = match uri.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    host && uri.scheme() == "http"
}
