use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use url::Url;

use crate::error::OAuthError;
use crate::settings::Fetched;
use crate::state::State;
use crate::{
    Settings, SetupError, SigningKey, answer, authorize, document, introspect, metadata, register,
    token,
};

/// An authorization server: answers requests, without sockets of its own.
///
/// Clones share their state.
///
/// ```
/// use authorization_server::{AuthorizationServer, Settings};
/// use bytes::Bytes;
///
/// let server = AuthorizationServer::new(Settings::new("http://localhost:9000"))?;
/// let request = http::Request::get("/.well-known/oauth-authorization-server").body(Bytes::new())?;
/// assert_eq!(server.handle(&request).status(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Shared>);

struct Shared {
    settings: Settings,
    /// The path of the issuer, without a slash at its end.
    prefix: String,
    /// Scheme, host and port of the issuer.
    origin: String,
    state: Mutex<State>,
}

/// One request: the settings, the state and the time.
pub(crate) struct Turn<'t> {
    pub(crate) settings: &'t Settings,
    pub(crate) state: MutexGuard<'t, State>,
    pub(crate) now: u64,
    prefix: &'t str,
    origin: &'t str,
}

impl Turn<'_> {
    /// The URL of an endpoint: `/token`.
    pub(crate) fn url(&self, endpoint: &str) -> String {
        format!("{}{}{endpoint}", self.origin, self.prefix)
    }
}

/// The endpoints below the path of the issuer.
const ENDPOINTS: [&str; 7] = [
    "/authorize",
    "/token",
    "/register",
    "/jwks",
    "/introspect",
    "/revoke",
    metadata::OPENID,
];

impl AuthorizationServer {
    /// Makes a server of its settings.
    ///
    /// # Errors
    ///
    /// The issuer is no absolute URL of `http` or `https`, or has a query or a fragment.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        let wrong = || SetupError::new(format!("{} is no issuer", settings.issuer));
        let url = Url::parse(&settings.issuer).map_err(|_| wrong())?;
        let is_plain = url.query().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || !is_plain {
            return Err(wrong());
        }
        Ok(Self(Arc::new(Shared {
            prefix: url.path().trim_end_matches('/').into(),
            origin: url.origin().ascii_serialization(),
            state: Mutex::new(State::new(&settings)),
            settings,
        })))
    }

    /// The issuer as it was given.
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Whether a path is one of the server's. A program that serves more asks this first.
    pub fn serves(&self, path: &str) -> bool {
        let of_issuer = path.strip_prefix(&*self.0.prefix);
        let is_metadata = metadata::is_place(path, &self.0.prefix);
        let has_metadata = self.0.settings.has_metadata;
        of_issuer.is_some_and(|rest| {
            ENDPOINTS.contains(&rest) && (has_metadata || rest != metadata::OPENID)
        }) || (has_metadata && is_metadata)
    }

    /// Answers one request.
    pub fn handle(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path();
        if !self.serves(path) {
            return answer::empty(StatusCode::NOT_FOUND);
        }
        let mut turn = self.turn();
        if metadata::is_place(path, &self.0.prefix) {
            return match *request.method() {
                Method::GET => answer::json(StatusCode::OK, &metadata::document(&turn)),
                Method::OPTIONS => answer::preflight(),
                _ => answer::empty(StatusCode::METHOD_NOT_ALLOWED),
            };
        }
        let endpoint = &path[self.0.prefix.len()..];
        let answered = match (request.method(), endpoint) {
            (&Method::GET, "/authorize") => {
                let query = request.uri().query().unwrap_or_default();
                return authorize::begin(&mut turn, query.as_bytes());
            }
            (&Method::POST, "/authorize") => return authorize::decide(&mut turn, request.body()),
            (&Method::OPTIONS, _) => return answer::preflight(),
            (&Method::GET, "/jwks") => Ok(answer::json(StatusCode::OK, &jwks(&turn.state))),
            (&Method::POST, "/token") => token::answer(&mut turn, request),
            (&Method::POST, "/register") if turn.settings.has_registration => {
                register::answer(&mut turn, request.body())
            }
            (&Method::POST, "/introspect") => introspect::answer(&mut turn, request),
            (&Method::POST, "/revoke") => introspect::revoke(&mut turn, request),
            (_, "/register") if !turn.settings.has_registration => {
                return answer::empty(StatusCode::NOT_FOUND);
            }
            _ => return answer::empty(StatusCode::METHOD_NOT_ALLOWED),
        };
        answered.unwrap_or_else(OAuthError::into_response)
    }

    /// What is known of an access token of this server, in the form of RFC 7662:
    /// `{"active": false}`, or its claims. A resource server of the same process asks this.
    pub fn introspect(&self, token: &str) -> Value {
        introspect::claims(&self.turn(), token)
    }

    /// The public keys, as a JWK set.
    pub fn jwks(&self) -> Value {
        jwks(&self.turn().state)
    }

    /// Signs with a new key from now on. Both are published.
    pub fn rotate_key(&self) {
        self.turn()
            .state
            .keys
            .push(Arc::new(SigningKey::generate()));
    }

    /// Begins to fetch the document of a client, if the request names one that is not known.
    pub(crate) fn fetch(&self, request: &Request<Bytes>) -> Option<(String, Fetched)> {
        let fetch = self.0.settings.fetch.as_ref()?;
        let id = document::client_id(request)?;
        let is_known = self.turn().state.clients.contains_key(&id);
        (!is_known).then(|| (id.clone(), fetch(id)))
    }

    /// Registers the client that a document describes. A wrong document registers none.
    pub(crate) fn learn(&self, id: &str, document: &[u8]) {
        if let Some(client) = document::client(id, document) {
            let clients = &mut self.turn().state.clients;
            clients.insert(id.into(), Arc::new(client));
        }
    }

    fn turn(&self) -> Turn<'_> {
        let Shared {
            settings,
            prefix,
            origin,
            state,
        } = &*self.0;
        Turn {
            now: (settings.clock)(),
            settings,
            state: state.lock().unwrap_or_else(PoisonError::into_inner),
            prefix,
            origin,
        }
    }
}

fn jwks(state: &State) -> Value {
    let keys: Vec<&Value> = state.keys.iter().map(|key| key.jwk()).collect();
    json!({ "keys": keys })
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuthorizationServer")
            .field(&self.0.settings)
            .finish()
    }
}
