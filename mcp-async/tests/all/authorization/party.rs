//! An MCP server, its authorization server and a user, in one service.

use crate::scripted::message;
use crate::sim::Sim;
use crate::texts::has;
use core::convert::Infallible;
use core::future::{Future, pending, ready};
use core::pin::Pin;
use core::task::{Context, Poll};
use mcp_async::http::HttpConnector;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::Full;
use mcp_async::Client;
use mcp_async::auth::{Authorization, AuthorizationPage, PreRegistered, UserAgent};
use mcp_async::client::{ClientBuilder, ConnectError};
use mcp_proto::{Revision, RevisionSet};
use tower_service::Service;
use url::{Url, form_urlencoded};

pub(crate) const SERVER: &str = "https://mcp.example/mcp";
pub(crate) const ISSUER: &str = "https://login.example";
const REDIRECT: &str = "http://127.0.0.1:33418/callback";

/// The parties.
#[derive(Clone)]
pub(crate) struct Parties(Arc<Mutex<State>>);

/// Where the metadata is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Metadata of the server names the issuer.
    Resource,
    /// Metadata of the authorization server at the root of the MCP server (2025-03-26).
    Root,
    /// The default endpoints at the root of the MCP server (2025-03-26).
    Default,
}

pub(crate) struct State {
    /// Each request: method, URL, and whether it had a token.
    pub(crate) log: Vec<String>,
    /// All that must not be shown anywhere.
    pub(crate) secrets: BTreeSet<String>,
    /// The values of `DPoP` at the MCP server.
    pub(crate) proofs: Vec<String>,
    pub(crate) revision: Revision,
    pub(crate) manner: Manner,
    pub(crate) expires_in: u64,
    pub(crate) issues_refresh: bool,
    /// `initialize` and notifications need no token.
    pub(crate) is_opening_free: bool,
    /// The scope that each method needs.
    pub(crate) needs: BTreeMap<String, String>,
    /// No token is ever accepted.
    pub(crate) refuses_all: bool,
    /// The nonce that proofs must have at the MCP server.
    pub(crate) nonce: Option<String>,
    /// Tokens are of type `DPoP`.
    pub(crate) binds: bool,
    /// The MCP server writes a slash after the issuer.
    pub(crate) names_with_slash: bool,
    /// What replaces the answer at a URL: status, field and value, body.
    pub(crate) replaced: BTreeMap<String, (u16, &'static str, String, String)>,
    /// The next refresh is refused, because its client is not known.
    pub(crate) refuses_client_once: bool,
    /// Challenges for missing tokens have no parameters.
    pub(crate) names_nothing: bool,
    /// The scopes that tokens get, instead of those that were asked for.
    pub(crate) granted: Option<&'static str>,
    /// The scopes that each page asked for.
    pub(crate) asked_scopes: Vec<String>,
    /// Clients register themselves.
    pub(crate) registers: bool,
    /// The client that the user enters.
    pub(crate) given: Option<PreRegistered>,
    /// How often the user was asked for a client.
    pub(crate) questions: usize,
    /// The user declines.
    pub(crate) declines: bool,
    /// How long the user takes, in seconds.
    pub(crate) thinks: u64,
    pub(crate) pages: usize,
    /// No token is accepted for a GET.
    pub(crate) refuses_streams: bool,
    /// An authorized GET is never answered.
    pub(crate) holds_streams: bool,
    /// The token endpoint answers with an error whose member repeats the request.
    pub(crate) echoes: Option<&'static str>,
    count: u64,
    codes: BTreeMap<String, (String, String)>,
    /// The scopes of each token.
    tokens: BTreeMap<String, String>,
    refresh: BTreeMap<String, String>,
}

struct Asked {
    method: String,
    url: Url,
    fields: http::HeaderMap,
    body: String,
}

type Answer = (u16, Vec<(&'static str, String)>, String);

impl Parties {
    pub(crate) fn new(revision: Revision) -> Self {
        Self(Arc::new(Mutex::new(State {
            log: Vec::new(),
            secrets: BTreeSet::new(),
            proofs: Vec::new(),
            revision,
            manner: Manner::Resource,
            expires_in: 3600,
            issues_refresh: true,
            is_opening_free: false,
            needs: BTreeMap::new(),
            refuses_all: false,
            nonce: None,
            binds: false,
            names_with_slash: false,
            replaced: BTreeMap::new(),
            refuses_client_once: false,
            names_nothing: false,
            granted: None,
            asked_scopes: Vec::new(),
            registers: true,
            given: None,
            questions: 0,
            declines: false,
            thinks: 0,
            pages: 0,
            refuses_streams: false,
            holds_streams: false,
            echoes: None,
            count: 0,
            codes: BTreeMap::new(),
            tokens: BTreeMap::new(),
            refresh: BTreeMap::new(),
        })))
    }

    pub(crate) fn with(self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.state());
        self
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// How many requests had this in their line.
    #[track_caller]
    pub(crate) fn count(&self, text: &str) -> usize {
        let state = self.state();
        state.log.iter().filter(|line| line.contains(text)).count()
    }

    /// How many pages were opened.
    pub(crate) fn pages(&self) -> usize {
        self.state().pages
    }

    /// No token is valid any more.
    pub(crate) fn revoke(&self) {
        self.state().tokens.clear();
    }

    /// An authorization whose user is this one.
    pub(crate) fn authorization(&self) -> Authorization {
        Authorization::new().user_agent(self.clone())
    }

    pub(crate) fn builder(&self, authorization: Authorization) -> ClientBuilder {
        let revision = self.state().revision;
        Client::builder("demo", "1.0")
            .revisions(RevisionSet::of(&[revision]))
            .authorize(authorization)
    }

    pub(crate) async fn connect(
        &self,
        authorization: Authorization,
    ) -> Result<Client, ConnectError> {
        self.connect_to(SERVER, authorization).await
    }

    /// The client of a user who logs in.
    pub(crate) async fn connected(&self) -> Client {
        let client = self.connect(self.authorization()).await;
        client.expect("it connects")
    }

    pub(crate) async fn connect_to(
        &self,
        url: &str,
        authorization: Authorization,
    ) -> Result<Client, ConnectError> {
        let builder = self.builder(authorization);
        builder
            .connect(HttpConnector::new(Sim, url).through(self.clone()))
            .await
    }
}

impl UserAgent for Parties {
    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok(REDIRECT.into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let thinks = core::time::Duration::from_secs(self.state().thinks);
        if !thinks.is_zero() {
            crate::sim::sleep(thinks).await;
        }
        assert_eq!(page.redirect_uri, REDIRECT);
        self.state().consent(&page.url)
    }

    async fn registered_client(
        &self,
        issuer: &str,
        redirect_uri: &str,
    ) -> io::Result<Option<PreRegistered>> {
        assert_eq!((issuer, redirect_uri), (ISSUER, REDIRECT));
        let mut state = self.state();
        state.questions += 1;
        Ok(state.given.clone())
    }
}

impl Service<Request<Full<Bytes>>> for Parties {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let (parts, mut body) = request.into_parts();
        let mut text = String::new();
        let cx = &mut Context::from_waker(core::task::Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = core::pin::Pin::new(&mut body).poll_frame(cx) {
            text.push_str(core::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
        let asked = Asked {
            method: parts.method.to_string(),
            url: Url::parse(&parts.uri.to_string()).unwrap(),
            fields: parts.headers,
            body: text,
        };
        let (status, fields, body) = self.state().answer(&asked);
        if status == 405 && self.state().holds_streams {
            return Box::pin(pending());
        }
        let mut response = Response::builder().status(status);
        for (name, value) in fields {
            response = response.header(name, value);
        }
        let response = response.body(Full::new(Bytes::from(body))).unwrap();
        Box::pin(ready(Ok(response)))
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Answer {
        let token = asked.fields.get("authorization").is_some_and(|value| {
            let value = value.to_str().unwrap();
            value.starts_with("Bearer ") || value.starts_with("DPoP ")
        });
        let mut shown = asked.url.clone();
        shown.set_query(None);
        let rpc = asked.body.split("\"method\":\"").nth(1);
        let rpc = rpc.and_then(|rest| rest.split('"').next()).unwrap_or("");
        self.log.push(format!(
            "{} {shown} {rpc}{}",
            asked.method,
            if token { " with token" } else { "" }
        ));
        if let Some((status, name, value, body)) = self.replaced.get(shown.as_str()) {
            let fields = if name.is_empty() {
                Vec::new()
            } else {
                vec![(*name, value.clone())]
            };
            return (*status, fields, body.clone());
        }
        if shown.as_str() == SERVER {
            return self.serve(asked, rpc);
        }
        let (issuer, below) = match self.manner {
            Manner::Resource => (ISSUER, ""),
            Manner::Root => ("https://mcp.example", "/oauth"),
            Manner::Default => ("https://mcp.example", ""),
        };
        let url = shown.as_str();
        let endpoint = |name: &str| format!("{issuer}{below}/{name}");
        if url == "https://mcp.example/.well-known/oauth-protected-resource/mcp"
            && self.manner == Manner::Resource
        {
            let slash = if self.names_with_slash { "/" } else { "" };
            return json(format!(
                r#"{{"resource":"{SERVER}","authorization_servers":["{ISSUER}{slash}"]}}"#
            ));
        }
        if url == format!("{issuer}/.well-known/oauth-authorization-server")
            && self.manner != Manner::Default
        {
            let registration = match self.registers {
                true => format!(r#""registration_endpoint":"{}","#, endpoint("register")),
                false => String::new(),
            };
            return json(format!(
                r#"{{"issuer":"{issuer}","authorization_endpoint":"{}","token_endpoint":"{}",{registration}"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true}}"#,
                endpoint("authorize"),
                endpoint("token"),
            ));
        }
        if url == endpoint("register") {
            self.secrets.insert("client-secret-1".into());
            let (_, fields, body) = json(
                r#"{"client_id":"client-1","client_secret":"client-secret-1","token_endpoint_auth_method":"client_secret_post"}"#.into(),
            );
            return (201, fields, body);
        }
        if url == endpoint("token") {
            assert!(!token, "credentials of the MCP server at {url}");
            return self.token(&asked.body);
        }
        (404, Vec::new(), String::new())
    }

    fn token(&mut self, body: &str) -> Answer {
        let form: BTreeMap<String, String> = form_urlencoded::parse(body.as_bytes())
            .into_owned()
            .collect();
        let field = |name: &str| form.get(name).cloned().unwrap_or_default();
        let refuse = |error: &str| {
            let body = format!(r#"{{"error":"{error}"}}"#);
            (400, vec![("content-type", "application/json".into())], body)
        };
        if let Some(member) = self.echoes {
            self.secrets.extend(form.iter().filter_map(|(name, value)| {
                let is_secret = name.contains("code") || name.contains("refresh_token");
                (is_secret && name != "grant_type").then(|| value.clone())
            }));
            let text = format!("{form:?}").replace('"', "'");
            let code = if member == "error" {
                ""
            } else {
                r#""error":"invalid_scope","#
            };
            let body = format!(r#"{{{code}"{member}":"{text}"}}"#);
            return (400, vec![("content-type", "application/json".into())], body);
        }
        let scope = match field("grant_type").as_str() {
            "authorization_code" => {
                let verifier = field("code_verifier");
                self.secrets.insert(verifier.clone());
                let Some((challenge, scope)) = self.codes.remove(&field("code")) else {
                    return refuse("invalid_grant");
                };
                let digest = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
                assert_eq!(challenge, URL_SAFE_NO_PAD.encode(digest));
                assert_eq!(field("client_secret"), "client-secret-1");
                scope
            }
            "refresh_token" if core::mem::take(&mut self.refuses_client_once) => {
                return refuse("invalid_client");
            }
            "refresh_token" => {
                let Some(scope) = self.refresh.remove(&field("refresh_token")) else {
                    return refuse("invalid_grant");
                };
                scope
            }
            "client_credentials" => field("scope"),
            _ => return refuse("unsupported_grant_type"),
        };
        self.count += 1;
        let access = format!("access-secret-{}", self.count);
        let refresh = format!("refresh-secret-{}", self.count);
        self.secrets.extend([access.clone(), refresh.clone()]);
        let scope = self.granted.map_or(scope, str::to_owned);
        self.tokens.insert(access.clone(), scope.clone());
        let kind = if self.binds { "DPoP" } else { "Bearer" };
        let mut answer = format!(
            r#"{{"access_token":"{access}","token_type":"{kind}","expires_in":{}"#,
            self.expires_in
        );
        if let Some(scope) = self.granted {
            answer.push_str(&format!(r#","scope":"{scope}""#));
        }
        if self.issues_refresh {
            self.refresh.insert(refresh.clone(), scope);
            answer.push_str(&format!(r#","refresh_token":"{refresh}""#));
        }
        answer.push('}');
        json(answer)
    }

    /// The page: the user consents at once.
    pub(crate) fn consent(&mut self, url: &str) -> std::io::Result<String> {
        self.pages += 1;
        if self.declines {
            return Err(std::io::Error::other("the user closed the window"));
        }
        let url = Url::parse(url).unwrap();
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let field = |name: &str| query.get(name).cloned().unwrap_or_default();
        assert_eq!(field("code_challenge_method"), "S256");
        assert_eq!(field("client_id"), "client-1");
        self.asked_scopes.push(field("scope"));
        self.count += 1;
        let code = format!("code-secret-{}", self.count);
        self.secrets.extend([code.clone(), field("state")]);
        self.codes
            .insert(code.clone(), (field("code_challenge"), field("scope")));
        let mut redirect = Url::parse(&field("redirect_uri")).unwrap();
        redirect
            .query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &field("state"));
        if self.manner != Manner::Default {
            let issuer = url.origin().ascii_serialization();
            redirect.query_pairs_mut().append_pair("iss", &issuer);
        }
        Ok(redirect.into())
    }

    fn serve(&mut self, asked: &Asked, rpc: &str) -> Answer {
        if let Some(refusal) = self.refuse(asked, rpc) {
            return refusal;
        }
        let id = asked.body.split("\"id\":").nth(1);
        let id = id.map_or("", |rest| &rest[..rest.find([',', '}']).unwrap()]);
        let is_modern = self.revision == Revision::V2026_07_28;
        let begin = if is_modern {
            r#""resultType":"complete","#
        } else {
            ""
        };
        let result = match rpc {
            "server/discover" if is_modern => {
                r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{}},"ttlMs":0,"cacheScope":"private""#.to_owned()
            }
            "initialize" => format!(
                r#""protocolVersion":"{}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}"#,
                self.revision
            ),
            "tools/list" => r#""tools":[],"ttlMs":0,"cacheScope":"private""#.to_owned(),
            "prompts/list" => r#""prompts":[],"ttlMs":0,"cacheScope":"private""#.to_owned(),
            "tools/call" => r#""content":[{"type":"text","text":"hi"}]"#.to_owned(),
            _ if asked.method == "POST" && id.is_empty() => return (202, Vec::new(), String::new()),
            _ => return (405, Vec::new(), String::new()),
        };
        let (status, mut fields, body) = json(message(&format!("{id} = {{{begin}{result}}}")));
        if rpc == "initialize" {
            fields.push(("mcp-session-id", "session-1".into()));
        }
        (status, fields, body)
    }

    fn refuse(&mut self, asked: &Asked, rpc: &str) -> Option<Answer> {
        let is_free = rpc == "initialize" || rpc.starts_with("notifications/");
        if self.is_opening_free && is_free {
            return None;
        }
        let scheme = if self.binds { "DPoP" } else { "Bearer" };
        let mut challenge = format!("{scheme} realm=\"mcp\"");
        if self.manner == Manner::Resource {
            challenge.push_str(
                ", resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"",
            );
        }
        let value = asked.fields.get("authorization");
        let value = value.map_or("", |value| value.to_str().unwrap());
        let token = value.strip_prefix(scheme).map_or("", str::trim);
        let is_refused = self.refuses_all || self.refuses_streams && asked.method == "GET";
        let scopes = self.tokens.get(token).filter(|_| !is_refused);
        let Some(scopes) = scopes else {
            if self.names_nothing {
                challenge = scheme.into();
            }
            return Some((401, vec![("www-authenticate", challenge)], String::new()));
        };
        if let Some(scope) = self.needs.get(rpc)
            && !scopes.split(' ').any(|held| held == scope)
        {
            challenge.push_str(&format!(
                ", error=\"insufficient_scope\", scope=\"{scope}\""
            ));
            return Some((403, vec![("www-authenticate", challenge)], String::new()));
        }
        if self.binds {
            let proof = asked.fields.get("dpop");
            let proof = proof.expect("a bound token comes with a proof").to_str();
            let proof = proof.unwrap().to_owned();
            assert!(!self.proofs.contains(&proof), "a proof comes twice");
            let claims = proof.split('.').nth(1).unwrap();
            let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
            let claims = String::from_utf8(claims).unwrap();
            let hash = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
            let ath = URL_SAFE_NO_PAD.encode(hash);
            has(&claims, [&ath, SERVER]);
            self.proofs.push(proof);
            if let Some(nonce) = &self.nonce
                && !claims.contains(nonce.as_str())
            {
                challenge.push_str(", error=\"use_dpop_nonce\"");
                let fields = vec![
                    ("www-authenticate", challenge),
                    ("dpop-nonce", nonce.clone()),
                ];
                return Some((401, fields, String::new()));
            }
        }
        None
    }
}

fn json(body: String) -> Answer {
    (200, vec![("content-type", "application/json".into())], body)
}

impl State {
    /// No refresh token is valid any more.
    pub(crate) fn forget_refresh(&mut self) {
        self.refresh.clear();
    }
}
