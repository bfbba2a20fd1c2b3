//! The authorization server among hostile clients, users, providers and stores.

use core::cell::Cell;
use core::hash::{Hash as _, Hasher as _};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::DefaultHasher;

use mcp_auth::authorization_server::{
    AccessCheck, AuthorizationServer, LoginAction, LoginContext, LoginCrypto, LoginExchange,
    LoginInput, LoginMachine, LoginResponse, LoginSettings, LoginStep, Provider,
    ProviderTokenRequest, UserSource,
};
use mcp_auth::{
    Document, HttpRequest, HttpResponse, Scopes, Secret, ServerMetadata, UnixTime, Uri,
};
use mcp_proto::http::Head;
use serde_json::Value;

use crate::auth_tokens::encode;

const ISSUER: &str = "https://mcp.example";
const PROVIDER: &str = "https://idp.example";
const USER: &str = "https://api.idp.example/user";
/// The provider sends it, and it leaves the server for the provider only.
const THEIRS: &str = "their-secret";

/// Whatever the parties of logins send, each request ends after a bounded number of steps; browsers are sent to the
/// provider and to redirect URIs only, heads and pages are sound, codes are of use once and go to the browser that has
/// consented, and the tokens of the provider go to the provider only.
///
/// The input is lines. The first byte of each says what happens: `r` a registration, `a` an authorization request, `c` a
/// consent, `b` a return from the provider, `t` a request for tokens, `v` a revocation, `k` a check of the access
/// token, `h` a handler that needs the token of the provider, `p` the response to a request that follows, with a status of
/// three digits, `n` so many seconds that pass, `s` so many actions on the store that fail, `x` the other browser.
/// `{C}`, `{F}`, `{S}`, `{K}`, `{A}` and `{R}` stand for the client, the form, the state, the code and the tokens that came last,
/// `{P}` and `{V}` for the challenge and the verifier of PKCE.
pub fn auth_logins(input: &[u8]) {
    play(input);
}

fn play(input: &[u8]) -> Parties {
    let text = String::from_utf8_lossy(input);
    let mut parties = Parties::new();
    for line in text.lines().take(MOST_LINES) {
        let Some(kind) = line.chars().next() else {
            continue;
        };
        let rest = line.get(kind.len_utf8()..).unwrap_or_default();
        parties.play(kind, rest);
    }
    parties
}

/// The most lines of an input that are played.
const MOST_LINES: usize = 64;

/// The most actions that one request may ask for.
const MOST_STEPS: usize = 250;

struct Parties {
    server: AuthorizationServer,
    metadata: ServerMetadata,
    now: u64,
    drawn: Cell<u64>,
    store: BTreeMap<String, (u32, Vec<u8>)>,
    failures: usize,
    responses: VecDeque<(u16, String)>,
    /// The cookies of two browsers, and the one that is used.
    cookies: [Option<String>; 2],
    browser: usize,
    /// The texts that lines name.
    known: BTreeMap<&'static str, String>,
    /// The browser of each state.
    consented: BTreeMap<String, usize>,
    /// The codes that were exchanged.
    used: BTreeSet<String>,
}

impl Parties {
    fn new() -> Self {
        let at = |path: &str| format!("{PROVIDER}{path}");
        let metadata = ServerMetadata::of_endpoints(PROVIDER, &at("/authorize"), &at("/token"));
        let provider = Provider {
            endpoints: Some(metadata.clone()),
            user: UserSource::Document {
                url: USER.into(),
                subject: "id",
                name: "login",
            },
            ..Provider::oidc(PROVIDER, "our-id", THEIRS)
        };
        let mut settings = LoginSettings::new("https://mcp.example/mcp", provider);
        settings.scopes = Scopes::parse("read write");
        let verifier = "v".repeat(43);
        let challenge = encode(&hash(verifier.as_bytes()));
        Self {
            server: AuthorizationServer::new(settings).expect("settings"),
            metadata,
            now: 1_000_000,
            drawn: Cell::new(0),
            store: BTreeMap::new(),
            failures: 0,
            responses: VecDeque::new(),
            cookies: [None, None],
            browser: 0,
            known: BTreeMap::from([("{P}", challenge), ("{V}", verifier)]),
            consented: BTreeMap::new(),
            used: BTreeSet::new(),
        }
    }

    fn play(&mut self, kind: char, rest: &str) {
        let mut sent = rest.to_owned();
        for (name, value) in &self.known {
            sent = sent.replace(name, value);
        }
        let is_known = match kind {
            'p' => is_in_texts(&sent),
            _ => sent.contains(THEIRS),
        };
        if is_known {
            // It is a secret: only the provider has it, and it is in its tokens.
            return;
        }
        match kind {
            'r' => self.request("POST", "/register", "", &sent),
            'a' => self.request("GET", "/authorize", &sent, ""),
            'c' => self.request("POST", "/consent", "", &sent),
            'b' => self.request("GET", "/callback", &sent, ""),
            't' => self.request("POST", "/token", "", &sent),
            'v' => self.request("POST", "/revoke", "", &sent),
            'k' | 'h' => self.handle(kind),
            'p' => {
                let (status, body) = sent.split_at_checked(3).unwrap_or_default();
                let body = body.trim_start().to_owned();
                self.responses
                    .push_back((status.parse().unwrap_or(200), body));
            }
            'n' => {
                let seconds = sent.parse().unwrap_or(0);
                self.now = self.now.saturating_add_signed(seconds);
            }
            's' => self.failures = sent.parse().unwrap_or(1_usize).min(3),
            'x' => self.browser = 1 - self.browser,
            _ => {}
        }
    }

    fn request(&mut self, method: &str, path: &str, query: &str, body: &str) {
        let cookie = self.cookies.get(self.browser).cloned().flatten();
        let head = Sent {
            method: method.into(),
            path: path.into(),
            cookie,
        };
        let endpoint = self.server.endpoint(&head).expect("an endpoint");
        let context = context(self);
        let exchange = LoginExchange::new(&context, endpoint, &head, query, body.as_bytes());
        let response = self.drive(exchange);
        self.judge(path, query, body, &response);
    }

    /// Checks the access token that came last, and asks for the token of the provider with it.
    fn handle(&mut self, kind: char) {
        let token = self.known.get("{A}").cloned().unwrap_or_default();
        let claims = self.drive(AccessCheck::new(Secret::from(token)));
        let Ok(Some(claims)) = claims else {
            return;
        };
        assert_eq!(claims.issuer(), Some(ISSUER));
        assert!(claims.subject().is_some_and(|subject| !subject.is_empty()));
        if kind == 'h' {
            let login: String = claims.get("login").expect("a text").expect("a login");
            let token = self.drive(ProviderTokenRequest::new(login));
            assert!(!format!("{token:?}").contains(THEIRS), "{token:?}");
        }
    }

    fn drive<M: LoginMachine>(&mut self, mut machine: M) -> M::Output {
        let mut step = machine.advance(&context(self), LoginInput::Start);
        for _ in 0..MOST_STEPS {
            let action = match step {
                LoginStep::Done(output) => return output,
                LoginStep::Do(action) => action,
            };
            step = match action {
                LoginAction::Wait => machine.advance(&context(self), LoginInput::Waited),
                LoginAction::Send(request) => {
                    check_request(&request);
                    let response = self.responses.pop_front();
                    let context = context(self);
                    let Some((status, body)) = &response else {
                        step = machine.advance(&context, LoginInput::Failed("no answer"));
                        continue;
                    };
                    let response = HttpResponse {
                        status: *status,
                        headers: &[("content-type", b"application/json")],
                        body: body.as_bytes(),
                    };
                    machine.advance(&context, LoginInput::Response(response))
                }
                _ if self.failures > 0 => {
                    self.failures -= 1;
                    machine.advance(&context(self), LoginInput::Failed("the store is away"))
                }
                LoginAction::Load { key, to_change } => {
                    let found = self.store.get_mut(&key).map(|(version, record)| {
                        *version += u32::from(to_change);
                        (*version, record.clone())
                    });
                    let found = found
                        .as_ref()
                        .map(|(version, it)| (*version, it.as_slice()));
                    machine.advance(&context(self), LoginInput::Record(found))
                }
                LoginAction::Create {
                    key,
                    record,
                    keep,
                    user,
                } => {
                    assert!(keep > 0 && record.len() < MAX_RECORD, "{key}");
                    assert!(user.is_none_or(|user| user.len() == 43), "{key}");
                    self.store.insert(key, (0, record));
                    machine.advance(&context(self), LoginInput::Written(true))
                }
                LoginAction::Save {
                    key,
                    version,
                    record,
                    ..
                } => {
                    let found = self.store.get_mut(&key).filter(|(it, _)| *it == version);
                    let is_written = found.map(|(_, saved)| *saved = record).is_some();
                    machine.advance(&context(self), LoginInput::Written(is_written))
                }
                LoginAction::Remove { key, version } => {
                    let is_current = self.store.get(&key).is_some_and(|(it, _)| *it == version);
                    if is_current {
                        self.store.remove(&key);
                    }
                    machine.advance(&context(self), LoginInput::Written(is_current))
                }
                other => panic!("{other:?}"),
            };
        }
        panic!("it does not end");
    }

    /// Checks a response, and keeps what its receiver needs for what follows.
    fn judge(&mut self, path: &str, query: &str, body: &str, response: &LoginResponse) {
        for (name, value) in &response.headers {
            let is_sound = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            assert!(is_sound && !value.contains(THEIRS), "{name}: {value}");
        }
        assert!(!response.body.contains(THEIRS), "{}", response.body);
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert!(matches!(
            response.status,
            200 | 201 | 303 | 400 | 401 | 403 | 503
        ));
        if let Some(cookie) = response.header("set-cookie") {
            let value = cookie.split(';').next().map(str::to_owned);
            if let Some(slot) = self.cookies.get_mut(self.browser) {
                *slot = value;
            }
        }
        if let Some(location) = response.header("location") {
            assert_eq!(response.status, 303);
            self.follow(path, query, location);
        }
        match response.header("content-type") {
            Some("application/json") => self.read(body, response),
            Some(_) => {
                check_page(&response.body);
                if let Some((_, rest)) = response.body.split_once("name=\"request\" value=\"") {
                    let sealed = rest.split('"').next().unwrap_or_default();
                    self.known.insert("{F}", format!("request={sealed}"));
                }
            }
            None => assert!(response.body.is_empty()),
        }
    }

    /// Follows a redirect: to a client, which is always given the issuer as the last parameter, or to the provider after a
    /// consent. The text before does not decide it: a client may have a redirect URI at the provider.
    fn follow(&mut self, path: &str, query: &str, location: &str) {
        if !location.ends_with("iss=https%3A%2F%2Fmcp.example") {
            assert_eq!(path, "/consent");
            let page = location.strip_prefix("https://idp.example/authorize?");
            let state = page.and_then(|page| value_of(page, "state"));
            let state = state.expect("the page of the provider, with a state");
            self.consented.insert(state.clone(), self.browser);
            self.known.insert("{S}", state);
            return;
        }
        let uri = Uri::parse(location).expect("a URL");
        assert!(uri.is_confidential() && !uri.has_fragment(), "{location}");
        let answer = uri.query().unwrap_or_default();
        if path == "/authorize" {
            assert!(uri.is_loopback() && answer.contains("error="), "{location}");
        } else if path == "/callback" && answer.contains("code=") && !answer.contains("error=") {
            let state = value_of(query, "state").unwrap_or_default();
            let begun = self.consented.remove(&state);
            assert_eq!(begun, Some(self.browser), "another browser");
            if let Some(code) = value_of(answer, "code") {
                self.known.insert("{K}", code);
            }
        }
    }

    fn read(&mut self, sent: &str, response: &LoginResponse) {
        let body: Value = serde_json::from_str(&response.body).expect("JSON");
        for (member, name) in [
            ("client_id", "{C}"),
            ("access_token", "{A}"),
            ("refresh_token", "{R}"),
        ] {
            if let Some(text) = body[member].as_str() {
                assert!(response.status < 300);
                self.known.insert(name, text.into());
            }
        }
        let code = value_of(sent, "code").filter(|_| body["access_token"].is_string());
        if let Some(code) = code
            && sent.contains("grant_type=authorization_code")
        {
            assert!(self.used.insert(code), "a code was exchanged twice");
        }
    }
}

/// Returns true if a response has the secret of the provider in a text that is no token: errors show those.
fn is_in_texts(response: &str) -> bool {
    const TOKENS: [&str; 3] = ["access_token", "refresh_token", "id_token"];
    let body = response.find('{').map_or("", |start| &response[start..]);
    match serde_json::from_str::<serde_json::Map<String, Value>>(body) {
        Ok(members) => members.iter().any(|(name, value)| {
            let is_token = TOKENS.contains(&name.as_str()) && value.is_string();
            !is_token && format!("{name} {value}").contains(THEIRS)
        }),
        Err(_) => response.contains(THEIRS) && response.contains("error"),
    }
}

/// The bytes of the longest record of a user who has not logged in.
const MAX_RECORD: usize = 64 * 1024;

/// The surroundings of a step.
fn context(parties: &Parties) -> LoginContext<'_> {
    LoginContext {
        server: &parties.server,
        provider: Some(&parties.metadata),
        crypto: parties,
        now: UnixTime::from_secs(parties.now),
    }
}

/// Requests go to the provider, and for documents without anything secret.
fn check_request(request: &HttpRequest) {
    let is_theirs = match request.document {
        Document::TokenResponse => request.url == "https://idp.example/token",
        Document::User => request.url == USER,
        _ => false,
    };
    if !is_theirs {
        let uri = Uri::parse(&request.url).expect("a URL");
        assert!(request.document == Document::ClientMetadata && uri.is_https());
        assert!(!uri.is_loopback() && request.body.is_none() && request.max_redirects == 0);
        assert_eq!(request.header("authorization"), None);
    }
    assert!(!format!("{request:?}").contains(THEIRS));
}

/// A page has tags of the server only.
fn check_page(page: &str) {
    const TAGS: &str = "!doctype html meta title /title style /style h1 /h1 dl /dl dt dd p /p a /a form /form input button \
                        /button /html";
    for part in page.split('<').skip(1) {
        let tag = part.split(['>', ' ']).next().unwrap_or_default();
        assert!(TAGS.split(' ').any(|known| known == tag), "{part}");
    }
    for link in page.split("href=\"").skip(1) {
        let scheme = link.get(.."https://".len()).unwrap_or_default();
        assert!(scheme.eq_ignore_ascii_case("https://"), "{link}");
    }
}

/// Returns the text of a parameter.
fn value_of(query: &str, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, value) = pairs.find(|(known, _)| known == name)?;
    Some(value.into_owned())
}

/// A request of a browser or a program.
struct Sent {
    method: String,
    path: String,
    cookie: Option<String>,
}

impl Head for Sent {
    fn method(&self) -> &str {
        &self.method
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        if let Some(cookie) = &self.cookie {
            each("cookie", cookie.as_bytes());
        }
    }
}

/// Arithmetic in place of cryptography: nothing can be read, and nothing is changed by chance.
impl LoginCrypto for Parties {
    fn random(&self) -> Option<[u8; 32]> {
        self.drawn.set(self.drawn.get() + 1);
        Some(hash(&self.drawn.get().to_be_bytes()))
    }

    fn sha256(&self, bytes: &[u8]) -> [u8; 32] {
        hash(bytes)
    }

    fn seal(&self, context: &str, plain: &[u8]) -> Option<Vec<u8>> {
        let mut sealed = self.random()?.to_vec();
        sealed.extend(masked(&sealed, plain));
        sealed.extend(hash(&[context.as_bytes(), b"\0", &sealed].concat()));
        Some(sealed)
    }

    fn open(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (sealed, tag) = sealed.split_at_checked(sealed.len().checked_sub(32)?)?;
        let (salt, text) = sealed.split_at_checked(32)?;
        let expected = hash(&[context.as_bytes(), b"\0", sealed].concat());
        (tag == expected).then(|| masked(salt, text))
    }
}

fn masked(salt: &[u8], text: &[u8]) -> Vec<u8> {
    let mask = salt.iter().cycle();
    text.iter()
        .zip(mask)
        .map(|(left, right)| left ^ right)
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The corpus begins with logins that are complete.
    #[test]
    fn corpus_logs_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/auth_logins/");
        for (name, codes, logins) in [
            ("login", 1, 1),
            ("code_twice", 1, 0),
            ("refresh", 1, 0),
            ("store_away", 1, 0),
            ("other_browser", 0, 0),
            ("document", 0, 0),
            ("client_at_provider", 0, 1),
        ] {
            let parties = play(&std::fs::read(format!("{folder}{name}")).unwrap());
            assert_eq!(parties.used.len(), codes, "{name}");
            assert_eq!(parties.store.len(), logins, "{name}");
        }
    }
}
