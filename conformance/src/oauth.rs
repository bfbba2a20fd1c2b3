//! The client of `fixture client oauth`: the script of `client http` with the code flow, without a
//! browser.

use std::io;

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

/// Tells which page is opened, requests it once, and takes where it leads to as the redirect.
struct Follower(HttpClient);

impl Follower {
    fn new() -> Self {
        Self(HttpClient::builder().no_redirects().build())
    }
}

impl UserAgent for Follower {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok("http://127.0.0.1:33418/callback".into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let line = RawBuf::encode(&Line {
            op: "open",
            url: &page.url,
        });
        crate::print(line.map_err(io::Error::other)?.as_raw().as_str())?;
        let request = http::Request::get(&page.url).body("");
        let response = self.0.send(request.map_err(io::Error::other)?).await;
        let response = response.map_err(io::Error::other)?;
        let location = response.headers().get("location");
        match location.filter(|_| response.status().is_redirection()) {
            Some(location) => {
                let location = location.to_str().map_err(io::Error::other)?;
                Ok(location.to_owned())
            }
            None => {
                let status = response.status();
                Err(io::Error::other(format!(
                    "status {status} without a location"
                )))
            }
        }
    }
}

#[derive(Serialize)]
struct Line<'l> {
    op: &'static str,
    url: &'l str,
}
