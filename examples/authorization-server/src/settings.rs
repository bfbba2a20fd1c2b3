use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::Value;

use crate::{Client, SigningKey};

/// What the user answers on the consent page.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Consent {
    /// The page asks.
    #[default]
    Ask,
    /// Every request is allowed without a page, for tests.
    Allow,
    /// Every request is denied without a page, for tests.
    Deny,
}

/// Fetches the document at a URL.
pub(crate) type Fetch = Arc<dyn Fn(String) -> Fetched + Send + Sync>;
pub(crate) type Fetched = Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send>>;

/// The settings of an [`AuthorizationServer`](crate::AuthorizationServer).
#[derive(Clone)]
#[must_use]
pub struct Settings {
    pub(crate) issuer: String,
    pub(crate) user: String,
    pub(crate) consent: Consent,
    pub(crate) clients: Vec<Client>,
    pub(crate) scopes: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) trusted: Vec<(String, Vec<Value>)>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) partners: Vec<Partner>,
    pub(crate) token_lifetime: u64,
    pub(crate) has_metadata: bool,
    pub(crate) has_registration: bool,
    pub(crate) has_issuer_parameter: bool,
    pub(crate) requires_dpop: bool,
    pub(crate) demands_nonces: bool,
    pub(crate) signing_key: Option<Arc<SigningKey>>,
    pub(crate) fetch: Option<Fetch>,
    pub(crate) clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

/// A workload that may exchange its token for an access token.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    pub(crate) client: String,
}

/// An authorization server for which this one, as the identity provider of an enterprise, issues
/// assertions.
#[derive(Clone, Debug)]
pub(crate) struct Partner {
    pub(crate) issuer: String,
    pub(crate) resource: String,
}

impl Settings {
    /// The settings of a server with this issuer: an absolute URL of `http` or `https` without
    /// query and fragment. Its path is the prefix of all endpoints.
    ///
    /// By default the user `alice` is asked for consent, clients can register themselves, every
    /// scope and every resource is known, and access tokens last one hour.
    pub fn new(issuer: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            user: "alice".into(),
            consent: Consent::Ask,
            clients: Vec::new(),
            scopes: Vec::new(),
            resources: Vec::new(),
            trusted: Vec::new(),
            workloads: Vec::new(),
            partners: Vec::new(),
            token_lifetime: 3600,
            has_metadata: true,
            has_registration: true,
            has_issuer_parameter: true,
            requires_dpop: false,
            demands_nonces: false,
            signing_key: None,
            fetch: None,
            clock: Arc::new(unix_time),
        }
    }

    /// The user who is logged in.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.user = name.into();
        self
    }

    /// What the user answers.
    pub const fn consent(mut self, consent: Consent) -> Self {
        self.consent = consent;
        self
    }

    /// Adds a client that need not register.
    pub fn client(mut self, client: Client) -> Self {
        self.clients.push(client);
        self
    }

    /// The scopes that exist. Requests for others are refused with `invalid_scope`.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// The resources for which tokens are issued. Requests for others are refused with
    /// `invalid_target`.
    pub fn resources<S: Into<String>>(mut self, resources: impl IntoIterator<Item = S>) -> Self {
        self.resources = resources.into_iter().map(Into::into).collect();
        self
    }

    /// Trusts the identity assertions of an issuer (ID-JAG), and the tokens of its workloads. The
    /// keys are JWKs. The server trusts itself.
    pub fn trust(
        mut self,
        issuer: impl Into<String>,
        keys: impl IntoIterator<Item = Value>,
    ) -> Self {
        let keys = keys.into_iter().collect();
        self.trusted.push((issuer.into(), keys));
        self
    }

    /// Lets the workload with this subject at a trusted issuer act as a client.
    pub fn workload(
        mut self,
        issuer: impl Into<String>,
        subject: impl Into<String>,
        client: impl Into<String>,
    ) -> Self {
        self.workloads.push(Workload {
            issuer: issuer.into(),
            subject: subject.into(),
            client: client.into(),
        });
        self
    }

    /// Issues identity assertions (ID-JAG) for a resource and its authorization server.
    pub fn partner(mut self, issuer: impl Into<String>, resource: impl Into<String>) -> Self {
        self.partners.push(Partner {
            issuer: issuer.into(),
            resource: resource.into(),
        });
        self
    }

    /// How many seconds an access token lasts.
    pub const fn token_lifetime(mut self, seconds: u64) -> Self {
        self.token_lifetime = seconds;
        self
    }

    /// Serves no metadata: clients of 2025-03-26 use the default paths.
    pub const fn without_metadata(mut self) -> Self {
        self.has_metadata = false;
        self
    }

    /// Offers no registration.
    pub const fn without_registration(mut self) -> Self {
        self.has_registration = false;
        self
    }

    /// Leaves `iss` out of the redirect.
    pub const fn without_issuer_parameter(mut self) -> Self {
        self.has_issuer_parameter = false;
        self
    }

    /// Refuses token requests without a DPoP proof.
    pub const fn require_dpop(mut self) -> Self {
        self.requires_dpop = true;
        self
    }

    /// Demands a nonce in each DPoP proof, a new one after each token request.
    pub const fn demand_dpop_nonces(mut self) -> Self {
        self.demands_nonces = true;
        self
    }

    /// Signs tokens with this key. By default a key for ES256 is generated.
    pub fn signing_key(mut self, key: SigningKey) -> Self {
        self.signing_key = Some(Arc::new(key));
        self
    }

    /// Accepts URLs as client ids, whose documents this function fetches (client id metadata
    /// documents). The function judges the addresses and limits the size of documents.
    pub fn client_documents<F>(
        mut self,
        fetch: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Bytes, String>> + Send + 'static,
    {
        self.fetch = Some(Arc::new(move |url| Box::pin(fetch(url))));
        self
    }

    /// Reads the time, in seconds since 1970, from this function instead of the system's clock.
    pub fn clock(mut self, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("issuer", &self.issuer)
            .field("user", &self.user)
            .field("consent", &self.consent)
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

fn unix_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Settings from which no server can be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetupError(String);

impl SetupError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SetupError {}
