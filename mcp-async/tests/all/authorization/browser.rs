//! The listener that receives the redirect of a browser.

use std::io;

use mcp_async::auth::{Authorization, AuthorizationPage, SystemBrowser, UserAgent};
use mcp_async::runtime::RuntimeHandle;
use mcp_proto::Revision;

use super::guard::{accept_and, accept_next};
use super::party::Parties;
use crate::sim::play;

/// AU-54: any page of the browser can send requests to the listener, and one connection may fail.
#[test]
fn what_is_not_the_redirect_does_not_end_a_login() {
    let parties = Parties::new(Revision::V2026_07_28);
    let user = parties.clone();
    play(async {
        let browser = SystemBrowser::new().without_launch();
        let browser = browser.announce(move |start| {
            let user = user.clone();
            let rest = start.strip_prefix("http://").unwrap();
            let (host, start) = rest.split_once('/').unwrap();
            let host = host.to_owned();
            let request = move |target: &str, more: &str| {
                Ok(format!(
                    "GET /{target} HTTP/1.1\r\nHost: {host}{more}\r\n\r\n"
                ))
            };
            accept_and(request(start, ""), move |response| {
                let field = |name: &str| {
                    let mut lines = response.split("\r\n");
                    lines.find_map(|line| line.strip_prefix(name)).unwrap()
                };
                let page = field("Location: ");
                let cookie = field("Set-Cookie: ").split(';').next().unwrap();
                let cookie = format!("\r\nCookie: {cookie}");
                let redirect = user.state().consent(page).unwrap();
                let (_, target) = redirect.split_once("//").unwrap();
                let (_, target) = target.split_once('/').unwrap();
                let (path, _) = target.split_once('?').unwrap();
                let wrong = |query: &str| request(&format!("{path}?{query}"), &cookie);
                accept_next(wrong("x=1"));
                accept_next(wrong("error=access_denied&state=a"));
                accept_next(Err(io::ErrorKind::ConnectionAborted.into()));
                accept_next(request(&format!("{target}&state=b"), &cookie));
                // The browser of another user who knows the page.
                accept_and(request(target, ""), |response| {
                    assert!(response.starts_with("HTTP/1.1 403"), "{response}");
                });
                accept_next(request(target, &cookie));
            });
        });
        let authorization = Authorization::new().user_agent(Shared(browser));
        let client = parties.connect(authorization).await.unwrap();
        client.tools().page(None).await.unwrap();
        assert_eq!(parties.pages(), 1);
    });
}

/// A browser with which another client begins a login before the page of the first one is opened.
struct Shared(SystemBrowser);

impl UserAgent for Shared {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, registered: Option<&str>) -> io::Result<String> {
        let own = self.0.redirect_uri(registered).await?;
        assert_ne!(self.0.redirect_uri(None).await?, own);
        Ok(own)
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        self.0.open(page).await
    }

    fn receives_subpaths(&self) -> bool {
        self.0.receives_subpaths()
    }
}
