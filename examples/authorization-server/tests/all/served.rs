//! The server as a service.

use core::convert::Infallible;
use core::future::{Ready, ready};
use core::task::{Context, Poll};

use authorization_server::{AuthorizationServer, Consent, SameOrigin, Settings};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use tower_service::Service;

use crate::scripted::authorization;

async fn call<S, B>(service: &mut S, request: Request<Full<Bytes>>) -> (u16, Vec<u8>)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    B: http_body::Body<Data = Bytes>,
    B::Error: core::fmt::Debug,
{
    let Ok(response) = service.call(request).await;
    let status = response.status().as_u16();
    let mut body = core::pin::pin!(response.into_body());
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    (status, bytes)
}

fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}

/// AU-72: a client that is known by the URL of its document.
#[test]
fn client_documents() {
    const URL: &str = "https://client.example/client.json";
    let fetched = |document: serde_json::Value| {
        let settings = Settings::new("http://localhost:9000").consent(Consent::Allow);
        AuthorizationServer::new(settings.client_documents(move |url| {
            assert_eq!(url, URL);
            ready(Ok(document.to_string().into()))
        }))
        .unwrap()
    };
    let right = json!({
        "client_id": URL, "client_name": "Client", "redirect_uris": ["http://127.0.0.1/callback"],
    });
    let request = authorization(&[("client_id", URL)]);
    smol::block_on(async {
        let (status, _) = call(&mut fetched(right.clone()), get(&request)).await;
        assert_eq!(status, 302);
        for (name, value) in [
            ("client_id", json!("https://client.example/other.json")),
            ("client_name", json!(null)),
            ("redirect_uris", json!(["https://client.example/"])),
            ("client_secret", json!("s3cret")),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
        ] {
            let mut document = right.clone();
            document[name] = value;
            let (status, _) = call(&mut fetched(document), get(&request)).await;
            assert_eq!(status, 400, "{name}");
        }
    });
}

#[test]
fn a_body_has_a_limit() {
    let mut server = AuthorizationServer::new(Settings::new("http://localhost:9000")).unwrap();
    for (length, expected) in [(64 * 1024, 400), (64 * 1024 + 1, 413)] {
        let body = Full::from(vec![b'x'; length]);
        let request = Request::post("/token").body(body).unwrap();
        let (status, _) = smol::block_on(call(&mut server, request));
        assert_eq!(status, expected);
    }
}

/// Says hello, whatever is asked.
#[derive(Clone)]
struct Hello;

impl Service<Request<Full<Bytes>>> for Hello {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        ready(Ok(Response::new(Full::from("hello"))))
    }
}

#[test]
fn same_origin() {
    let settings = Settings::new("http://localhost:8000").without_metadata();
    let server = AuthorizationServer::new(settings).unwrap();
    let mut both = SameOrigin::new(server, Hello);
    smol::block_on(async {
        for (path, expected) in [("/mcp", 200), ("/authorize", 400), ("/token", 405)] {
            let (status, body) = call(&mut both, get(path)).await;
            assert_eq!(status, expected, "{path}");
            assert_eq!(body == b"hello", path == "/mcp");
        }
    });
}
