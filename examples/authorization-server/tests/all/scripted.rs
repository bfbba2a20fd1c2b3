//! A client that sends one request after the other, without a network.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use authorization_server::{AuthorizationServer, Client, Consent, Settings};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{Request, Response};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use url::Url;

pub(crate) const ISSUER: &str = "http://localhost:9000";
pub(crate) const RESOURCE: &str = "http://localhost:8000/mcp";
pub(crate) const REDIRECT: &str = "http://127.0.0.1/callback";
pub(crate) const VERIFIER: &str = "verifier-of-at-least-forty-three-characters-in-all";

/// A server and its clock, in seconds since 1970.
pub(crate) struct Scripted {
    pub(crate) server: AuthorizationServer,
    pub(crate) now: Arc<AtomicU64>,
}

/// Fields of a form.
pub(crate) type Fields<'f> = &'f [(&'f str, &'f str)];

impl Scripted {
    /// The server with a public client `desk` and a confidential one `robot`.
    pub(crate) fn new(change: impl FnOnce(Settings) -> Settings) -> Self {
        let now = Arc::new(AtomicU64::new(1_000_000));
        let clock = Arc::clone(&now);
        let robot = Client::confidential("robot", "s3cret/+").redirect(REDIRECT);
        let grants = [
            "authorization_code",
            "refresh_token",
            "client_credentials",
            "urn:ietf:params:oauth:grant-type:token-exchange",
            "urn:ietf:params:oauth:grant-type:jwt-bearer",
        ];
        let settings = Settings::new(ISSUER)
            .consent(Consent::Allow)
            .client(Client::public("desk").redirect(REDIRECT))
            .client(robot.grants(grants))
            .clock(move || clock.load(Ordering::Relaxed));
        let server = AuthorizationServer::new(change(settings)).unwrap();
        Self { server, now }
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.now.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self, path: &str) -> Response<Bytes> {
        self.server
            .handle(&Request::get(path).body(Bytes::new()).unwrap())
    }

    pub(crate) fn get_json(&self, path: &str) -> Value {
        json(&self.get(path))
    }

    /// Posts a form with headers.
    pub(crate) fn post(
        &self,
        path: &str,
        headers: Fields<'_>,
        form: Fields<'_>,
    ) -> Response<Bytes> {
        let mut request =
            Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.server
            .handle(&request.body(encode(form).into()).unwrap())
    }

    /// Sends a token request of the client `robot`.
    pub(crate) fn robot(&self, form: Fields<'_>) -> Response<Bytes> {
        self.post(
            "/token",
            &[("authorization", &basic("robot", "s3cret%2F%2B"))],
            form,
        )
    }

    /// Registers a client.
    pub(crate) fn register(&self, metadata: &Value) -> Response<Bytes> {
        let request = Request::post("/register").header("content-type", "application/json");
        self.server
            .handle(&request.body(metadata.to_string().into()).unwrap())
    }

    /// Where an authorization request leads; `more` replaces the usual fields.
    pub(crate) fn authorize(&self, more: Fields<'_>) -> Url {
        let response = self.get(&authorization(more));
        assert_eq!(response.status(), 302, "{response:?}");
        Url::parse(response.headers()["location"].to_str().unwrap()).unwrap()
    }

    /// A code for the client.
    pub(crate) fn code(&self, more: Fields<'_>) -> String {
        let url = self.authorize(more);
        parameter(&url, "code").unwrap_or_else(|| panic!("{url}"))
    }

    /// A token request of the client `desk` for a code; `more` replaces the usual fields.
    pub(crate) fn redeem(&self, code: &str, more: Fields<'_>) -> Response<Bytes> {
        self.post("/token", &[], &redemption(code, more))
    }

    /// The tokens that `desk` gets when the user allows it.
    pub(crate) fn log_in(&self) -> Value {
        json(&self.redeem(&self.code(&[]), &[]))
    }
}

/// The path and query of an authorization request.
pub(crate) fn authorization(more: Fields<'_>) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
    let usual = [
        ("client_id", "desk"),
        ("response_type", "code"),
        ("redirect_uri", REDIRECT),
        ("state", "st&te"),
        ("scope", "mcp"),
        ("resource", RESOURCE),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    format!("/authorize?{}", encode(&replace(&usual, more)))
}

/// The form of a token request for a code.
pub(crate) fn redemption<'f>(code: &'f str, more: Fields<'f>) -> Vec<(&'f str, &'f str)> {
    let usual = [
        ("grant_type", "authorization_code"),
        ("client_id", "desk"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
    ];
    replace(&usual, more)
}

/// Replaces the fields that `more` names. An empty value removes a field.
fn replace<'f>(usual: &[(&'f str, &'f str)], more: Fields<'f>) -> Vec<(&'f str, &'f str)> {
    let is_replaced = |name: &str| more.iter().any(|(other, _)| *other == name);
    let kept = usual.iter().filter(|(name, _)| !is_replaced(name));
    let new = more.iter().filter(|(_, value)| !value.is_empty());
    kept.chain(new).copied().collect()
}

pub(crate) fn encode(form: Fields<'_>) -> String {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    text.extend_pairs(form).finish()
}

pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

pub(crate) fn json(response: &Response<Bytes>) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_slice(response.body()).unwrap()
}

/// Status and `error` of a response.
pub(crate) fn refusal(response: &Response<Bytes>) -> (u16, String) {
    let body = json(response);
    let error = body["error"].as_str().unwrap_or_default();
    (response.status().as_u16(), error.to_owned())
}

pub(crate) fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut all = url.query_pairs().filter(|(known, _)| known == name);
    let (_, value) = all.next()?;
    assert!(all.next().is_none(), "{name} occurs twice in {url}");
    Some(value.into_owned())
}

/// The header and the claims of a token.
pub(crate) fn parts(token: &Value) -> (Value, Value) {
    let mut parts = token.as_str().unwrap().split('.').map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).unwrap();
        serde_json::from_slice(&bytes).unwrap_or_default()
    });
    (parts.next().unwrap(), parts.next().unwrap())
}
