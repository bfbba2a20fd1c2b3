//! The listener that receives the redirect of a browser.

use core::convert::Infallible;
use core::future::{Ready, ready};
use core::task::{Context, Poll};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_async::auth::{Authorization, SystemBrowser};
use mcp_async::{Client, ErrorChain};
use mcp_proto::{Revision, RevisionSet};
use tower_service::Service;

use crate::adapter;
use crate::block_on;

/// An MCP server and its authorization server.
#[derive(Clone)]
struct Parties;

impl Service<Request<Full<Bytes>>> for Parties {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let token = request.headers().get("authorization");
        let is_authorized = token.is_some_and(|token| token == "Bearer t-1");
        let (status, body) = match request.uri().path() {
            "/mcp" if !is_authorized => (401, ""),
            "/mcp" => (
                200,
                r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#,
            ),
            "/.well-known/oauth-protected-resource/mcp" => (
                200,
                r#"{"resource":"https://mcp.example/mcp","authorization_servers":["https://login.example"]}"#,
            ),
            "/.well-known/oauth-authorization-server" => (
                200,
                r#"{"issuer":"https://login.example","authorization_endpoint":"https://login.example/authorize","token_endpoint":"https://login.example/token","registration_endpoint":"https://login.example/register","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}"#,
            ),
            "/register" => (201, r#"{"client_id":"c"}"#),
            "/token" => (200, r#"{"access_token":"t-1","token_type":"Bearer"}"#),
            _ => (404, ""),
        };
        let mut response = Response::builder().status(status);
        if status == 401 {
            response = response.header("www-authenticate", "Bearer");
        } else {
            response = response.header("content-type", "application/json");
        }
        ready(Ok(response.body(Full::from(body)).unwrap()))
    }
}

/// What the listener answers to a request for this target with this cookie.
fn get(address: &str, target: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn parameter<'u>(url: &'u str, name: &str) -> &'u str {
    let query = url.split_once('?').unwrap().1;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(of, _)| *of == name);
    values.next().unwrap().1
}

#[test]
fn a_browser_comes_back_to_a_port_of_this_machine() {
    let (pages, page) = mpsc::channel::<String>();
    let user = thread::spawn(move || {
        let start = page.recv().unwrap();
        let (address, path) = start
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let started = get(address, &format!("/{path}"), "");
        let field = |name: &str| {
            let mut lines = started.split("\r\n");
            lines.find_map(|line| line.strip_prefix(name)).unwrap()
        };
        let page = field("Location: ").to_owned();
        let cookie = field("Set-Cookie: ").split(';').next().unwrap();
        let redirect = parameter(&page, "redirect_uri");
        let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
        let address = redirect.strip_prefix("http://").unwrap();
        let (address, path) = address.split_once('/').unwrap();
        let address = address.to_owned();
        // The client registers itself: the issuer has a path of its own.
        assert_eq!(path.len(), "callback/0123abcd".len(), "{path}");
        // A connection that a browser opens ahead, and other requests, end nothing.
        let _silent = TcpStream::connect(&address).unwrap();
        assert!(get(&address, "/favicon.ico", cookie).starts_with("HTTP/1.1 404"));
        assert!(get(&address, "/callback", cookie).starts_with("HTTP/1.1 404"));
        let state = parameter(&page, "state");
        let elsewhere = get(
            &address,
            &format!("/callback?code=c-1&state={state}"),
            cookie,
        );
        assert!(elsewhere.starts_with("HTTP/1.1 404"), "{elsewhere}");
        let target = format!("/{path}?code=c-1&state={state}");
        let other = get(&address, &target, "login=1");
        assert!(other.starts_with("HTTP/1.1 403"), "{other}");
        let answer = get(&address, &target, cookie);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.ends_with("</html>\n"), "{answer}");
        assert!(!answer.contains(state));
        address
    });
    let browser = SystemBrowser::new()
        .without_launch()
        .announce(move |url| pages.send(url.to_owned()).unwrap());
    block_on(async {
        let client = Client::builder("demo", "1.0")
            .revisions(RevisionSet::of(&[Revision::V2026_07_28]))
            .authorize(Authorization::new().user_agent(browser))
            .connect(adapter::http("https://mcp.example/mcp").through(Parties));
        let client = client
            .await
            .unwrap_or_else(|error| panic!("{}", ErrorChain(&error)));
        let address = user.join().unwrap();
        // The port is open for one redirect.
        assert!(TcpStream::connect(address).is_err());
        client.close().await.unwrap();
    });
}
