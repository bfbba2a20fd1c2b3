//! The client of `fixture client oauth`: the script of `client http` with the code flow, without a
//! browser.

use std::io;

use http::request::Builder;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use mcp_async::auth::{
    Authorization, AuthorizationPage, FileCredentialStore, SigningKey, UserAgent,
};
use mcp_async::http::HttpConnector;
use mcp_async::net::HttpClient;
use mcp_async::runtime::RuntimeHandle;
use mcp_proto::json::RawBuf;
use serde::Serialize;

use crate::client::{builder, script};

/// Connects to the URL, logs in when the server asks for it, and goes through the script.
///
/// # Errors
///
/// See [`script`].
pub(crate) async fn run(runtime: RuntimeHandle, url: &str) -> io::Result<()> {
    let mut authorization = Authorization::new().user_agent(Follower::new());
    if std::env::var_os("MCP_OAUTH_DPOP").is_some_and(|value| value == "1") {
        let key = SigningKey::generate().map_err(io::Error::other)?;
        authorization = authorization.require_dpop(key);
    }
    if let Some(path) = std::env::var_os("MCP_OAUTH_STORE") {
        authorization = authorization.store(FileCredentialStore::new(path));
    }
    let builder = builder()?.authorize(authorization);
    script(&runtime, builder, HttpConnector::new(&runtime, url)).await
}

/// Tells which page is opened, and takes where it leads to as the redirect: at once, or after a consent page and a
/// provider.
struct Follower(HttpClient);

impl Follower {
    fn new() -> Self {
        Self(HttpClient::builder().no_redirects().build())
    }

    async fn send(&self, request: Builder, body: &str) -> io::Result<Response<String>> {
        let request = request.body(body.to_owned()).map_err(io::Error::other)?;
        let response = self.0.send(request).await.map_err(io::Error::other)?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Response::from_parts(head, body))
    }
}

const REDIRECT: &str = "http://127.0.0.1:33418/callback";

impl UserAgent for Follower {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok(REDIRECT.into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let line = RawBuf::encode(&Line {
            op: "open",
            url: &page.url,
        });
        crate::print(line.map_err(io::Error::other)?.as_raw().as_str())?;
        let first = self.send(Request::get(&page.url), "").await?;
        if let Some(location) = location(&first) {
            return Ok(location);
        }
        let cookie = field(&first, "set-cookie").unwrap_or_default();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let (action, form) = read_form(first.body())?;
        let request = Request::post(action).header("cookie", &cookie);
        let mut next = self.send(request, &form).await?;
        // The provider, and back.
        while let Some(url) = location(&next) {
            if url.starts_with(REDIRECT) {
                return Ok(url);
            }
            let request = Request::get(url).header("cookie", &cookie);
            next = self.send(request, "").await?;
        }
        Err(io::Error::other(format!("status {}", next.status())))
    }
}

/// The form of a consent page: where it is sent to, and its fields with the decision.
fn read_form(page: &str) -> io::Result<(String, String)> {
    let attribute = |before: &str| Some(page.split_once(before)?.1.split('"').next()?.to_owned());
    let form = attribute("action=\"").zip(attribute("name=\"request\" value=\""));
    let (action, request) =
        form.ok_or_else(|| io::Error::other("neither a redirect nor a consent page"))?;
    Ok((action, format!("request={request}&decision=allow")))
}

fn field(response: &Response<String>, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

fn location(response: &Response<String>) -> Option<String> {
    field(response, "location").filter(|_| response.status().is_redirection())
}

#[derive(Serialize)]
struct Line<'l> {
    op: &'static str,
    url: &'l str,
}
