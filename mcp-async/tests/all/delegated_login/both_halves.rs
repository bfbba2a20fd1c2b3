//! A client of this crate logs in at a server of this crate, in every revision with authorization.

use std::io;

use mcp_async::Client;
use mcp_async::auth::{Authorization, AuthorizationPage, UserAgent};
use mcp_async::http::HttpConnector;
use mcp_proto::{Revision, RevisionSet};

use super::support::{
    Browser, CALLBACK, RESOURCE, TOKEN, USER, parameter, provider_answers, service,
};
use crate::scripted::http_server::check;
use crate::sim::Sim;

impl UserAgent for Browser {
    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok(CALLBACK.into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let redirect = self.log_in(&page.url).await;
        assert_eq!(
            parameter(&redirect, "iss").unwrap(),
            "http://localhost:8000"
        );
        Ok(redirect)
    }
}

/// AU-13, AU-14, AU-71, AU-73, AU-75: in the manner of 2025-03-26, where the server itself is the authorization server,
/// and in today's.
#[test]
fn a_client_logs_in_through_the_server() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        provider_answers(TOKEN, USER);
        let service = service();
        check(
            |_| async move {
                let authorization = Authorization::new().user_agent(Browser::new(&service));
                let client = Client::builder("test", "0")
                    .revisions(RevisionSet::of(&[revision]))
                    .authorize(authorization)
                    .connect(HttpConnector::new(Sim, RESOURCE).through(service))
                    .await
                    .unwrap();
                let answer = client.call_tool("whose", &()).await.unwrap();
                assert_eq!(answer.text(), "ada their-1", "{revision:?}");
            },
            |_| async {},
        );
    }
}
