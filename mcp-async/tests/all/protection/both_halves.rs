//! A client of this crate logs in at a protected server of this crate.

use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use mcp_async::http::HttpConnector;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Either, Full};
use mcp_async::Client;
use mcp_async::auth::Authorization;
use mcp_async::http::{HttpBody, HttpService};
use mcp_async::server::{Context as CallContext, Tool};
use mcp_proto::{Revision, RevisionSet};
use tower_service::Service;
use url::form_urlencoded;

use crate::protection::support::{ISSUER, RESOURCE, protection, server};
use crate::scripted::Serve;
use crate::server_typed::support::says;
use crate::sim::{Sim, play};

/// The protected server, and the authorization server that its metadata names.
#[derive(Clone)]
struct Parties {
    service: HttpService,
    /// The scopes of each token that was issued.
    issued: Arc<Mutex<Vec<String>>>,
}

impl Parties {
    fn new() -> Self {
        let purge = Tool::new("purge").scopes(["notes:delete"]);
        let purge = purge.handler(says("purged"));
        let share = Tool::new("share").handler(|(): (), cx: CallContext| async move {
            cx.require_scopes(["notes:share"])?;
            Ok("shared")
        });
        let http = server().with(purge).with(share).http();
        Self {
            service: http.protect(protection()).served(),
            issued: Arc::default(),
        }
    }

    /// The authorization server: metadata, and tokens for a client that acts for itself.
    fn authorize(&self, path: &str, body: &str) -> (u16, String) {
        match path {
            "/.well-known/oauth-authorization-server" => {
                let document = format!(
                    r#"{{"issuer":"{ISSUER}","token_endpoint":"{ISSUER}token","grant_types_supported":["client_credentials"],"token_endpoint_auth_methods_supported":["client_secret_basic"],"code_challenge_methods_supported":["S256"]}}"#
                );
                (200, document)
            }
            "/token" => {
                let form = Vec::from_iter(form_urlencoded::parse(body.as_bytes()));
                let field = |name: &str| {
                    let found = form.iter().find(|(known, _)| known == name);
                    found.map_or("", |(_, value)| value)
                };
                assert_eq!(field("grant_type"), "client_credentials");
                assert_eq!(field("resource"), RESOURCE);
                let scope = field("scope");
                self.issued.lock().unwrap().push(scope.into());
                let scope = scope.replace(' ', "+").replace(':', "~");
                let token = format!(
                    r#"{{"access_token":"machine/{scope}/600","token_type":"Bearer","expires_in":600}}"#
                );
                (200, token)
            }
            _ => (404, String::new()),
        }
    }
}

impl Service<Request<Full<Bytes>>> for Parties {
    type Response = Response<Either<HttpBody, Full<Bytes>>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let mut parties = self.clone();
        Box::pin(async move {
            if request.uri().host() == Some("localhost") {
                return Ok(parties.service.call(request).await?.map(Either::Left));
            }
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let text = core::str::from_utf8(&body).unwrap();
            let (status, body) = parties.authorize(parts.uri.path(), text);
            let body = Either::Right(Full::new(Bytes::from(body)));
            let response = Response::builder()
                .status(status)
                .header("content-type", "application/json");
            Ok(response.body(body).unwrap())
        })
    }
}

/// AU-09: the metadata, the challenges and the scopes of one half lead the other.
#[test]
fn a_client_obtains_the_tokens_that_operations_need() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let parties = Parties::new();
        let issued = Arc::clone(&parties.issued);
        play(async {
            let authorization = Authorization::client_secret("c1", "secret");
            let client = Client::builder("test", "0")
                .revisions(RevisionSet::of(&[revision]))
                .authorize(authorization.issuer(ISSUER))
                .connect(HttpConnector::new(Sim, RESOURCE).through(parties));
            let client = client.await.unwrap();
            let call = async |tool: &str| client.call_tool(tool, &()).await.unwrap().text();
            assert_eq!(call("who").await, "machine");
            assert_eq!(call("purge").await, "purged");
            assert_eq!(call("purge").await, "purged");
            assert_eq!(call("who").await, "machine");
            if revision == Revision::V2026_07_28 {
                assert_eq!(call("share").await, "shared");
            }
        });
        let issued = issued.lock().unwrap();
        let expected = ["mcp", "mcp notes:delete", "mcp notes:delete notes:share"];
        assert_eq!(*issued, expected[..issued.len()]);
        assert_eq!(
            issued.len(),
            if revision == Revision::V2026_07_28 {
                3
            } else {
                2
            }
        );
    }
}
