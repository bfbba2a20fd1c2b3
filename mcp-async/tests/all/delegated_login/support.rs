//! A server whose users log in at a provider, and the browser of a user.

use core::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mcp_async::Server;
use mcp_async::auth::mcp_auth::ServerMetadata;
use mcp_async::auth::{DelegatedLogin, Provider, ProviderLogin, UserSource};
use mcp_async::http::{Http, HttpService};
use mcp_async::net::RemoteAddr;
use mcp_async::server::{Context, Principal, ServerBuilder};
use tower_service::Service as _;

use crate::authorization::guard::{json_page, names, pages};
use crate::scripted::{Reply, RequestExt as _, modern, send};
use crate::sim::{Sim, now};

pub(crate) const RESOURCE: &str = "http://localhost:8000/mcp";
pub(crate) const PROVIDER: &str = "http://localhost:9";
pub(crate) const CALLBACK: &str = "http://127.0.0.1:8765/callback";

/// A provider without metadata, whose API says who the user is.
pub(crate) fn provider() -> Provider {
    Provider {
        issuer: PROVIDER.into(),
        endpoints: Some(ServerMetadata::of_endpoints(
            PROVIDER,
            "http://localhost:9/authorize",
            "http://localhost:9/token",
        )),
        user: UserSource::Document {
            url: "http://localhost:9/user".into(),
            subject: "id",
            name: "login",
        },
        ..Provider::github("our-id", "our-s3cret")
    }
}

/// The responses of the provider from now on.
pub(crate) fn provider_answers(token: &str, user: &str) {
    names(&[("localhost", &["127.0.0.1"])]);
    pages([("/token", json_page(token)), ("/user", json_page(user))]);
}

pub(crate) const TOKEN: &str = r#"{"access_token":"their-1","token_type":"bearer"}"#;
pub(crate) const USER: &str = r#"{"id":7,"login":"ada"}"#;

pub(crate) fn login() -> DelegatedLogin {
    DelegatedLogin::new(RESOURCE, provider()).scopes(["mcp"])
}

/// A server with a tool that says who calls it, and with which token the provider's API would be called.
pub(crate) fn server() -> ServerBuilder {
    Server::builder("demo", "1.0").tool("whose", "Says who", |(): (), cx: Context| async move {
        let principal = cx.principal();
        let claims = principal.and_then(Principal::claims::<mcp_async::auth::TokenClaims>);
        let name = claims.and_then(|claims| claims.get::<String>("name").ok()?);
        let login = principal.and_then(Principal::claims::<ProviderLogin>);
        let token = match login {
            Some(login) => login.token().await?.access_token.expose().to_owned(),
            None => "none".into(),
        };
        Ok(format!("{} {token}", name.unwrap_or_default()))
    })
}

pub(crate) fn http() -> Http {
    server().http().delegate_login(login())
}

pub(crate) fn service() -> HttpService {
    http().into_service(Sim).unwrap()
}

pub(crate) fn get(service: &HttpService, url: &str) -> Reply {
    send(service, get_request(url))
}

pub(crate) fn get_request(url: &str) -> Request<String> {
    from(Request::get(path_of(url)), "")
}

pub(crate) fn post(path: &str, body: &str) -> Request<String> {
    from(Request::post(path), body)
}

fn from(request: http::request::Builder, body: &str) -> Request<String> {
    request
        .header("host", "localhost:8000")
        .body(body.to_owned())
        .unwrap()
}

fn path_of(url: &str) -> &str {
    url.strip_prefix("http://localhost:8000").unwrap_or(url)
}

/// A member of a JSON object.
pub(crate) fn member(body: &str, name: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body[name]
        .as_str()
        .unwrap_or_else(|| panic!("{body}"))
        .to_owned()
}

pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    let mut pairs = url.query_pairs();
    pairs.find_map(|(known, value)| (known == name).then(|| value.into_owned()))
}

/// Registers a client; its id.
pub(crate) fn register(service: &HttpService) -> String {
    let body = format!(r#"{{"client_name":"Desk","redirect_uris":["{CALLBACK}"]}}"#);
    let reply = send(service, post("/register", &body));
    assert_eq!(reply.status, 201);
    member(&reply.whole(), "client_id")
}

pub(crate) const VERIFIER: &str = "verifier-verifier-verifier-verifier-verifier";

pub(crate) fn authorize_url(client: &str) -> String {
    let challenge = "fD3GLJ_KzCDB0w6uDOSFNNdflrHwtv8Cizh6P5pJkfQ";
    let mut url = url::Url::parse("http://localhost:8000/authorize?response_type=code").unwrap();
    url.query_pairs_mut()
        .append_pair("client_id", client)
        .append_pair("redirect_uri", CALLBACK)
        .append_pair("code_challenge", challenge)
        .append_pair("code_challenge_method", "S256");
    url.into()
}

/// Logs in and exchanges the code; the token response.
pub(crate) fn log_in(service: &HttpService) -> (String, Reply) {
    let client = register(service);
    let redirect = now(Browser::new(service).log_in(&authorize_url(&client)));
    let code = parameter(&redirect, "code").unwrap_or_else(|| panic!("{redirect}"));
    let reply = send(service, post("/token", &code_form(&client, &code)));
    (client, reply)
}

/// The token request of a client with a code.
pub(crate) fn code_form(client: &str, code: &str) -> String {
    format!("grant_type=authorization_code&client_id={client}&code={code}&code_verifier={VERIFIER}")
}

/// Logs in; the client, an access token and a refresh token.
pub(crate) fn tokens(service: &HttpService) -> (String, String, String) {
    let (client, reply) = log_in(service);
    assert_eq!(reply.status, 200);
    let body = reply.whole();
    (
        client,
        member(&body, "access_token"),
        member(&body, "refresh_token"),
    )
}

pub(crate) fn whose(service: &HttpService, token: &str) -> Result<String, u16> {
    call(service, token, "whose")
}

/// Calls a tool with this token; the answer, or the status.
pub(crate) fn call(service: &HttpService, token: &str, tool: &str) -> Result<String, u16> {
    let asked = modern(&format!(
        r#"1 tools/call {{"name":"{tool}","arguments":{{}}}}"#
    ));
    let reply = send(service, asked.signed(token));
    match reply.status.as_u16() {
        200 => {
            let body: serde_json::Value = serde_json::from_str(&reply.whole()).unwrap();
            Ok(body["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned())
        }
        status => Err(status),
    }
}

/// A browser whose user consents to everything, and logs in at the provider at once.
#[derive(Clone)]
pub(crate) struct Browser {
    service: HttpService,
    address: Option<SocketAddr>,
}

impl Browser {
    pub(crate) fn new(service: &HttpService) -> Self {
        Self {
            service: service.clone(),
            address: None,
        }
    }

    pub(crate) fn at(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    async fn send(&self, mut request: Request<String>) -> Reply {
        if let Some(address) = self.address {
            request.extensions_mut().insert(RemoteAddr(address));
        }
        let request = request.map(|body| Full::new(Bytes::copy_from_slice(body.as_bytes())));
        let Ok(response) = self.service.clone().call(request).await;
        Reply::new(response)
    }

    /// Opens the page of an authorization request and consents; where the browser is sent, and its cookie.
    pub(crate) async fn consent(&self, url: &str) -> (String, String) {
        let page = self.send(get_request(url)).await;
        assert_eq!(page.status, 200);
        let cookie = page.header("set-cookie").split(';').next().unwrap();
        let cookie = cookie.to_owned();
        let body = page.whole();
        let (_, rest) = body.split_once("name=\"request\" value=\"").unwrap();
        let form = format!("request={}&decision=allow", rest.split('"').next().unwrap());
        let consent = Request::post("/consent")
            .header("cookie", &cookie)
            .header("origin", "http://localhost:8000")
            .header("sec-fetch-site", "same-origin");
        let answer = self.send(from(consent, &form)).await;
        (answer.header("location").to_owned(), cookie)
    }

    /// Consents and logs in at the provider; where the client is sent back to.
    pub(crate) async fn log_in(&self, url: &str) -> String {
        let (to_provider, cookie) = self.consent(url).await;
        assert!(
            to_provider.starts_with("http://localhost:9/authorize?"),
            "{to_provider}"
        );
        let state = parameter(&to_provider, "state").unwrap();
        let back = Request::get(format!("/callback?code=their-code&state={state}"));
        let back = self.send(from(back.header("cookie", &cookie), "")).await;
        back.header("location").to_owned()
    }
}
