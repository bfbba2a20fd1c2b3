//! The listener that receives the redirect of a browser.

use std::io;

use mcp_async::auth::{Authorization, SystemBrowser};
use mcp_proto::Revision;

use super::guard::accept_next;
use super::party::Parties;
use crate::client_http::site::check;
use crate::sim::Sim;

/// AU-54: any page of the browser can send requests to the listener, and one connection may fail.
#[test]
fn what_is_not_the_redirect_does_not_end_a_login() {
    let parties = Parties::new(Revision::V2026_07_28);
    let user = parties.clone();
    check(
        |_| async move {
            let browser = SystemBrowser::<Sim>::new().without_launch();
            let browser = browser.announce(move |page| {
                let redirect = user.state().consent(page).unwrap();
                let rest = redirect.strip_prefix("http://").unwrap();
                let (host, target) = rest.split_once('/').unwrap();
                let request =
                    |target: &str| format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
                accept_next(Ok(request("callback?x=1")));
                accept_next(Ok(request("callback?error=access_denied&state=a")));
                accept_next(Err(io::ErrorKind::ConnectionAborted.into()));
                accept_next(Ok(request(&format!("{target}&state=b"))));
                accept_next(Ok(request(target)));
            });
            let authorization = Authorization::new().user_agent(browser);
            let client = parties.connect::<Sim>(authorization).await.unwrap();
            client.list_tools(None).await.unwrap();
            assert_eq!(parties.pages(), 1);
        },
        |_| async {},
    );
}
