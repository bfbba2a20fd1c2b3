//! Checks of balancers at a path of their own.

use http::{Method, Request};
use mcp_async::http::{AccessError, HttpService, Readiness};

use crate::http_server::legacy::server;
use crate::scripted::send;
use crate::sim::Sim;

/// An endpoint that refuses all senders, with a check.
fn closed() -> HttpService {
    let refuse = || AccessError::unauthorized(http::HeaderValue::from_static("Bearer"));
    let http = server()
        .http()
        .authenticate(move |_: &http::request::Parts| {
            core::future::ready(Err::<mcp_async::server::Principal, _>(refuse()))
        })
        .probe("/ready", |status| match status.readiness {
            Readiness::Ready => Ok(format!("{} sessions", status.sessions)),
            other => Err(format!("{other:?}")),
        });
    http.into_service(Sim).unwrap()
}

fn asked(method: Method, path: &str) -> Request<String> {
    let request = Request::builder().method(method).uri(path);
    request
        .header("host", "10.0.0.7:8000")
        .body(String::new())
        .unwrap()
}

#[test]
fn a_check_needs_no_token_and_no_host() {
    let service = closed();
    let reply = send(&service, asked(Method::GET, "/ready"));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.whole(), "0 sessions");
    assert_eq!(send(&service, asked(Method::HEAD, "/ready")).status, 200);
    assert_eq!(send(&service, asked(Method::GET, "/mcp")).status, 403);
    assert_eq!(send(&service, asked(Method::POST, "/ready")).status, 404);
}

#[test]
fn an_endpoint_that_ends_is_not_ready() {
    let service = closed();
    service.shutdown();
    let reply = send(&service, asked(Method::GET, "/ready"));
    assert_eq!(reply.status, 503);
    assert_eq!(reply.whole(), "Draining");
}

#[test]
fn a_path_that_no_request_has_is_a_mistake() {
    let http = server().http().probe("ready", |_| Ok(String::new()));
    let error = http.into_service(Sim).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("\"ready\" is not the path of a URL"),
        "{error}"
    );
}
