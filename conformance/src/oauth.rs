//! The client of `fixture client oauth`: the script of `client http` with the code flow, without a
//! browser.

use std::io;

use mcp_async::auth::{
    Authorization, AuthorizationFuture, AuthorizationPage, FileCredentialStore, SigningKey,
    UserAgent,
};
use mcp_async::client::ClientBuilder;
use mcp_async::net::{HttpClient, Network};
use mcp_proto::json::RawBuf;
use serde::Serialize;

/// Connects to the URL, logs in when the server asks for it, and goes through the script.
///
/// # Errors
///
/// See [`script`](crate::client::script).
pub(crate) async fn run<R: Network>(url: &str) -> io::Result<()> {
    let mut authorization = Authorization::new().user_agent(Follower::<R>::new());
    if std::env::var_os("MCP_OAUTH_DPOP").is_some_and(|value| value == "1") {
        let key = SigningKey::generate().map_err(io::Error::other)?;
        authorization = authorization.require_dpop(key);
    }
    if let Some(path) = std::env::var_os("MCP_OAUTH_STORE") {
        authorization = authorization.store(FileCredentialStore::new(path));
    }
    let connect =
        async |builder: ClientBuilder<R>| builder.authorize(authorization).connect(url).await;
    crate::client::script(connect).await
}

/// Tells which page is opened, requests it once, and takes where it leads to as the redirect.
struct Follower<R: Network>(HttpClient<R>);

impl<R: Network> Follower<R> {
    fn new() -> Self {
        Self(HttpClient::builder().no_redirects().build())
    }
}

impl<R: Network> UserAgent for Follower<R> {
    fn redirect_uri<'a>(&'a self, _: Option<&'a str>) -> AuthorizationFuture<'a, String> {
        Box::pin(async { Ok("http://127.0.0.1:33418/callback".into()) })
    }

    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> AuthorizationFuture<'a, String> {
        Box::pin(async move {
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
        })
    }
}

#[derive(Serialize)]
struct Line<'l> {
    op: &'static str,
    url: &'l str,
}
