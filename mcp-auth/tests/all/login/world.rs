//! The authorization server with a store and a provider, and the browsers and clients that use it.

use core::cell::Cell;
use core::hash::{Hash, Hasher};
use std::collections::{BTreeMap, VecDeque};
use std::hash::DefaultHasher;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_auth::authorization_server::{
    AccessCheck, AuthorizationServer, LOGIN_CLAIM, LoginAction, LoginContext, LoginCrypto,
    LoginError, LoginExchange, LoginInput, LoginMachine, LoginResponse, LoginSettings, LoginStep,
    Provider, ProviderToken, ProviderTokenRequest,
};
use mcp_auth::resource::TokenClaims;
use mcp_auth::{HttpRequest, HttpResponse, Scopes, Secret, ServerMetadata, UnixTime};
use mcp_proto::http::Head;
use serde_json::{Value, json};

pub(crate) const RESOURCE: &str = "https://mcp.example/mcp";
pub(crate) const ISSUER: &str = "https://mcp.example";
pub(crate) const REDIRECT: &str = "http://127.0.0.1:8765/callback";
pub(crate) const VERIFIER: &str = "verifier-verifier-verifier-verifier-verifier";
pub(crate) const PROVIDER: &str = "https://idp.example";
pub(crate) const NOW: u64 = 1_000_000;

/// Cryptography that can be read, but not in its results.
pub(crate) struct Toy {
    drawn: Cell<u64>,
    pub(crate) key: Cell<u64>,
    pub(crate) is_broken: Cell<bool>,
}

impl Toy {
    fn pad(&self, context: &str, number: u64, len: usize) -> Vec<u8> {
        let seed = format!("{} {context} {number}", self.key.get());
        let blocks = (0..=len / 32).flat_map(|block| hash(format!("{seed} {block}").as_bytes()));
        blocks.take(len).collect()
    }
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    for (index, part) in out.chunks_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        (index, bytes).hash(&mut hasher);
        part.copy_from_slice(&hasher.finish().to_be_bytes());
    }
    out
}

pub(crate) fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hash(text.as_bytes()))
}

impl LoginCrypto for Toy {
    fn random(&self) -> Option<[u8; 32]> {
        self.drawn.set(self.drawn.get() + 1);
        (!self.is_broken.get()).then(|| hash(&self.drawn.get().to_be_bytes()))
    }

    fn sha256(&self, bytes: &[u8]) -> [u8; 32] {
        hash(bytes)
    }

    fn seal(&self, context: &str, plain: &[u8]) -> Option<Vec<u8>> {
        self.drawn.set(self.drawn.get() + 1);
        let number = self.drawn.get();
        let pad = self.pad(context, number, plain.len());
        let mut sealed = number.to_be_bytes().to_vec();
        sealed.extend(plain.iter().zip(pad).map(|(left, right)| left ^ right));
        let tag = hash(&[context.as_bytes(), &sealed, &self.key.get().to_be_bytes()].concat());
        sealed.extend(tag);
        Some(sealed)
    }

    fn open(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (sealed, tag) = sealed.split_at_checked(sealed.len().checked_sub(32)?)?;
        if tag != hash(&[context.as_bytes(), sealed, &self.key.get().to_be_bytes()].concat()) {
            return None;
        }
        let (number, sealed) = sealed.split_first_chunk()?;
        let pad = self.pad(context, u64::from_be_bytes(*number), sealed.len());
        Some(
            sealed
                .iter()
                .zip(pad)
                .map(|(left, right)| left ^ right)
                .collect(),
        )
    }
}

/// A request as a browser or a program sends it.
#[derive(Default)]
pub(crate) struct Sent {
    method: String,
    path: String,
    query: String,
    fields: Vec<(&'static str, String)>,
    body: String,
}

impl Sent {
    pub(crate) fn get(url: &str) -> Self {
        let rest = url.strip_prefix(ISSUER).unwrap_or(url);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        Self {
            method: "GET".into(),
            path: path.into(),
            query: query.into(),
            ..Self::default()
        }
    }

    pub(crate) fn post(path: &str, body: impl Into<String>) -> Self {
        Self {
            method: "POST".into(),
            body: body.into(),
            ..Self::get(path)
        }
    }

    pub(crate) fn set_method(&mut self, method: &str) {
        self.method = method.into();
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}

impl Head for Sent {
    fn method(&self) -> &str {
        &self.method
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        for (name, value) in &self.fields {
            each(name, value.as_bytes());
        }
    }
}

/// A response of the provider, or of the host of a document.
pub(crate) enum Response {
    /// A status and a body, of JSON by its content type.
    Body(u16, String),
    /// A body with another content type.
    Page(&'static str, String),
    /// Tokens, of which the ID token has these claims. The nonce `NONCE` is the one that was sent.
    Tokens(Value, Value),
    /// None.
    Nothing,
}

/// The answer of the store.
enum Acted {
    Loaded(Option<(u32, Vec<u8>)>),
    Written(bool),
}

/// Everything around one authorization server.
pub(crate) struct World {
    pub(crate) server: AuthorizationServer,
    pub(crate) metadata: Option<ServerMetadata>,
    pub(crate) crypto: Toy,
    pub(crate) now: u64,
    pub(crate) store: BTreeMap<String, (u32, Vec<u8>)>,
    /// The number of actions on the store that fail, after so many that do not.
    pub(crate) store_failures: usize,
    pub(crate) fails_after: usize,
    /// True if those are done, and their answers are lost.
    pub(crate) answers_are_lost: bool,
    /// Requests to the provider, and to clients' documents.
    pub(crate) requests: Vec<HttpRequest>,
    /// The responses to the next ones.
    pub(crate) responses: VecDeque<Response>,
    /// The nonce that the provider was sent last.
    pub(crate) nonce: String,
    /// Called between the provider's response and what follows from it.
    pub(crate) meanwhile: Option<fn(&mut Self)>,
}

pub(crate) fn oidc() -> Provider {
    Provider::oidc(PROVIDER, "our-id", "our-s3cret")
}

pub(crate) fn settings(provider: Provider) -> LoginSettings {
    let mut settings = LoginSettings::new(RESOURCE, provider);
    settings.scopes = Scopes::parse("notes:read notes:write");
    settings
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(settings(oidc()))
    }

    pub(crate) fn of(settings: LoginSettings) -> Self {
        let provider = settings.provider.clone();
        let document = json!({
            "issuer": PROVIDER,
            "authorization_endpoint": format!("{PROVIDER}/authorize"),
            "token_endpoint": format!("{PROVIDER}/token"),
        });
        let metadata = match provider.metadata_url() {
            Some(url) => provider
                .read_metadata(&url, document.to_string().as_bytes())
                .ok(),
            None => provider.endpoints,
        };
        Self {
            server: AuthorizationServer::new(settings).unwrap(),
            metadata,
            crypto: Toy {
                drawn: Cell::new(0),
                key: Cell::new(7),
                is_broken: Cell::new(false),
            },
            now: NOW,
            store: BTreeMap::new(),
            store_failures: 0,
            fails_after: 0,
            answers_are_lost: false,
            requests: Vec::new(),
            responses: VecDeque::new(),
            nonce: String::new(),
            meanwhile: None,
        }
    }

    /// Starts the server again with other settings.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut LoginSettings)) {
        let mut settings = self.server.settings().clone();
        change(&mut settings);
        self.server = AuthorizationServer::new(settings).unwrap();
    }

    pub(crate) fn send(&mut self, sent: &Sent) -> LoginResponse {
        let machine = self.exchange(sent);
        self.drive(machine)
    }

    /// A request that has arrived.
    pub(crate) fn exchange(&self, sent: &Sent) -> LoginExchange {
        let endpoint = self.server.endpoint(sent);
        let endpoint = endpoint.unwrap_or_else(|| panic!("{}", sent.path));
        let body = sent.body.as_bytes();
        LoginExchange::new(&self.context(), endpoint, sent, &sent.query, body)
    }

    pub(crate) fn context(&self) -> LoginContext<'_> {
        LoginContext {
            server: &self.server,
            provider: self.metadata.as_ref(),
            crypto: &self.crypto,
            now: UnixTime::from_secs(self.now),
        }
    }

    pub(crate) fn drive<M: LoginMachine>(&mut self, mut machine: M) -> M::Output {
        let mut step = machine.advance(&self.context(), LoginInput::Start);
        loop {
            step = match step {
                LoginStep::Done(output) => return output,
                LoginStep::Do(action) => self.act(&mut machine, action),
            };
        }
    }

    /// Takes an action, and hands the machine its answer.
    pub(crate) fn act<M: LoginMachine + ?Sized>(
        &mut self,
        machine: &mut M,
        action: LoginAction,
    ) -> LoginStep<M::Output> {
        match action {
            LoginAction::Send(request) => {
                self.requests.push(request);
                let response = self.responses.pop_front().expect("a response");
                if let Some(meanwhile) = self.meanwhile.take() {
                    meanwhile(self);
                }
                let json = "application/json";
                let (status, content_type, body) = match response {
                    Response::Nothing => {
                        return machine.advance(&self.context(), LoginInput::Failed("timed out"));
                    }
                    Response::Body(status, body) => (status, json, body),
                    Response::Page(content_type, body) => (200, content_type, body),
                    Response::Tokens(claims, more) => {
                        (200, json, tokens(claims, &more, &self.nonce))
                    }
                };
                let response = HttpResponse {
                    status,
                    headers: &[("Content-Type", content_type.as_bytes())],
                    body: body.as_bytes(),
                };
                machine.advance(&self.context(), LoginInput::Response(response))
            }
            LoginAction::Wait => {
                self.now += 1;
                machine.advance(&self.context(), LoginInput::Waited)
            }
            action if self.store_failures > 0 && self.fails_after == 0 => {
                self.store_failures -= 1;
                if self.answers_are_lost {
                    self.store(action);
                }
                machine.advance(&self.context(), LoginInput::Failed("the store is down"))
            }
            action => match self.store(action) {
                Acted::Loaded(found) => {
                    let found = found.as_ref().map(|(version, it)| (*version, &**it));
                    machine.advance(&self.context(), LoginInput::Record(found))
                }
                Acted::Written(is_written) => {
                    machine.advance(&self.context(), LoginInput::Written(is_written))
                }
            },
        }
    }

    /// An action on the store.
    fn store(&mut self, action: LoginAction) -> Acted {
        self.fails_after = self.fails_after.saturating_sub(1);
        let is_current = |store: &BTreeMap<String, (u32, Vec<u8>)>, key: &String, version: u32| {
            store.get(key).is_some_and(|(it, _)| *it == version)
        };
        Acted::Written(match action {
            LoginAction::Load { key, to_change } => {
                return Acted::Loaded(self.store.get_mut(&key).map(|(version, record)| {
                    *version += u32::from(to_change);
                    (*version, record.clone())
                }));
            }
            LoginAction::Create { key, record, .. } => {
                self.store.insert(key, (0, record));
                true
            }
            LoginAction::Save {
                key,
                version,
                record,
                ..
            } => {
                let is_current = is_current(&self.store, &key, version);
                if is_current {
                    self.store.insert(key, (version, record));
                }
                is_current
            }
            LoginAction::Remove { key, version } => {
                let is_current = is_current(&self.store, &key, version);
                if is_current {
                    self.store.remove(&key);
                }
                is_current
            }
            other => panic!("{other:?}"),
        })
    }

    /// Registers a client with this redirect URI; its id.
    pub(crate) fn register(&mut self, redirect: &str) -> String {
        let body = json!({ "client_name": "Desk", "redirect_uris": [redirect] });
        let response = self.send(&Sent::post("/register", body.to_string()));
        assert_eq!(response.status, 201, "{}", response.body);
        text(&response, "client_id")
    }

    /// The form of the consent page, with the decision.
    pub(crate) fn consent_form(&mut self, browser: &mut Browser, url: &str) -> String {
        let page = browser.open(self, url);
        assert_eq!(page.status, 200, "{}", page.body);
        form_of(&page)
    }

    /// Logs in up to the page of the provider; its `state`.
    pub(crate) fn approve(&mut self, browser: &mut Browser, url: &str) -> String {
        let form = self.consent_form(browser, url);
        let response = browser.submit(self, &format!("{form}&decision=allow"));
        assert_eq!(response.status, 303, "{}", response.body);
        let location = response.header("location").unwrap();
        self.nonce = parameter(location, "nonce").unwrap();
        parameter(location, "state").unwrap()
    }

    /// Logs in with a new client up to the page of the provider; the client, the browser and the `state`.
    pub(crate) fn approved(&mut self) -> (String, Browser, String) {
        let client = self.register(REDIRECT);
        let mut browser = Browser::default();
        let state = self.approve(&mut browser, &authorize(&client, ""));
        (client, browser, state)
    }

    /// Comes back from the provider.
    pub(crate) fn come_back(&mut self, browser: &mut Browser, state: &str) -> LoginResponse {
        browser.open(self, &format!("/callback?code=their-code&state={state}"))
    }

    /// Logs in as far as the client's redirect URI, where the user is `ada` at the provider; the code.
    pub(crate) fn log_in(&mut self, client: &str) -> String {
        let mut browser = Browser::default();
        let state = self.approve(&mut browser, &authorize(client, ""));
        self.responses.push_back(their_tokens());
        let response = self.come_back(&mut browser, &state);
        let location = response.header("location").unwrap();
        let code = parameter(location, "code");
        code.unwrap_or_else(|| panic!("{location}"))
    }

    pub(crate) fn token(&mut self, form: &str) -> LoginResponse {
        self.send(&Sent::post("/token", form))
    }

    /// Logs in with a new client; its id, an access token and a refresh token.
    pub(crate) fn tokens(&mut self) -> (String, String, String) {
        let client = self.register(REDIRECT);
        let code = self.log_in(&client);
        let response = self.token(&code_form(&client, &code));
        assert_eq!(response.status, 200, "{}", response.body);
        let (access, refresh) = (
            text(&response, "access_token"),
            text(&response, "refresh_token"),
        );
        (client, access, refresh)
    }

    pub(crate) fn check(&mut self, token: &str) -> Option<TokenClaims> {
        self.drive(AccessCheck::new(Secret::from(token))).unwrap()
    }

    /// The token of the provider for the login of an access token.
    pub(crate) fn provider_token(&mut self, token: &str) -> Result<ProviderToken, LoginError> {
        let claims = self.check(token).expect("a valid token");
        let login: String = claims.get(LOGIN_CLAIM).unwrap().unwrap();
        self.drive(ProviderTokenRequest::new(login))
    }
}

/// A browser, which keeps cookies.
#[derive(Default, Clone)]
pub(crate) struct Browser {
    pub(crate) cookie: Option<String>,
}

impl Browser {
    pub(crate) fn open(&mut self, world: &mut World, url: &str) -> LoginResponse {
        self.send(world, Sent::get(url))
    }

    pub(crate) fn submit(&mut self, world: &mut World, form: &str) -> LoginResponse {
        let form = Sent::post("/consent", form).with("origin", ISSUER);
        self.send(world, form.with("sec-fetch-site", "same-origin"))
    }

    pub(crate) fn send(&mut self, world: &mut World, sent: Sent) -> LoginResponse {
        let sent = match &self.cookie {
            Some(cookie) => sent.with("cookie", format!("theme=dark; {cookie}")),
            None => sent,
        };
        let response = world.send(&sent);
        if let Some(set) = response.header("set-cookie") {
            self.cookie = set.split(';').next().map(str::to_owned);
        }
        response
    }
}

/// The URL of an authorization request, with further parameters.
pub(crate) fn authorize(client: &str, more: &str) -> String {
    let redirect = encode(REDIRECT);
    let challenge = digest(VERIFIER);
    format!(
        "/authorize?response_type=code&client_id={client}&redirect_uri={redirect}&code_challenge={challenge}\
         &code_challenge_method=S256&state=of-the-client{more}"
    )
}

pub(crate) fn code_form(client: &str, code: &str) -> String {
    let redirect = encode(REDIRECT);
    format!(
        "grant_type=authorization_code&client_id={client}&code={code}&redirect_uri={redirect}\
         &code_verifier={VERIFIER}"
    )
}

pub(crate) fn refresh_form(client: &str, token: &str) -> String {
    format!("grant_type=refresh_token&client_id={client}&refresh_token={token}")
}

pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// A parameter of a URL.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut found = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = found.find(|(known, _)| *known == name)?;
    Some(value.replace("%3A", ":").replace("%2F", "/"))
}

/// The hidden fields of a page.
pub(crate) fn form_of(page: &LoginResponse) -> String {
    let (_, rest) = page.body.split_once("name=\"request\" value=\"").unwrap();
    format!("request={}", rest.split('"').next().unwrap())
}

pub(crate) fn json_of(response: &LoginResponse) -> Value {
    serde_json::from_str(&response.body).unwrap()
}

pub(crate) fn text(response: &LoginResponse, name: &str) -> String {
    let value = &json_of(response)[name];
    value
        .as_str()
        .unwrap_or_else(|| panic!("{}", response.body))
        .to_owned()
}

/// The claims of an ID token about this user.
pub(crate) fn claims(user: &str) -> Value {
    json!({
        "iss": PROVIDER, "sub": user, "aud": "our-id", "exp": NOW + 300, "iat": NOW, "nonce": "NONCE",
        "preferred_username": format!("{user}@example"),
    })
}

/// The tokens of the user `ada`.
pub(crate) fn their_tokens() -> Response {
    Response::Tokens(claims("ada"), json!({ "refresh_token": "their-refresh-1" }))
}

fn tokens(mut claims: Value, more: &Value, nonce: &str) -> String {
    if claims["nonce"] == "NONCE" {
        claims["nonce"] = nonce.into();
    }
    let mut response = json!({
        "access_token": "their-access-1",
        "token_type": "Bearer",
        "expires_in": 3600,
        "id_token": id_token(&claims),
    });
    let members = response.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    response.to_string()
}

pub(crate) fn id_token(claims: &Value) -> String {
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#);
    let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
    format!("{header}.{payload}.{}", URL_SAFE_NO_PAD.encode("signature"))
}
