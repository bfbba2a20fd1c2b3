//! Responses: JSON, pages, redirects.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderValue, LOCATION, REFERRER_POLICY,
};
use http::{Response, StatusCode};
use serde_json::Value;

/// A response of an endpoint that pages of any origin may use and read.
pub(crate) fn json(status: StatusCode, body: &Value) -> Response<Bytes> {
    let mut response = new(status, "application/json", body.to_string());
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = HeaderValue::from_static("DPoP-Nonce, WWW-Authenticate");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    response
}

/// A page that no other page can frame and that loads nothing.
pub(crate) fn page(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = new(status, "text/html; charset=utf-8", body);
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A redirect of the browser. A location that is no header value is answered with 400.
pub(crate) fn redirect(location: &str) -> Response<Bytes> {
    let Ok(location) = HeaderValue::from_str(location) else {
        return empty(StatusCode::BAD_REQUEST);
    };
    let mut response = empty(StatusCode::FOUND);
    response.headers_mut().insert(LOCATION, location);
    response
}

/// The answer to a preflight request.
pub(crate) fn preflight() -> Response<Bytes> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let methods = HeaderValue::from_static("GET, POST");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    let names = "Authorization, Content-Type, DPoP, MCP-Protocol-Version";
    let names = HeaderValue::from_static(names);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    response
}

pub(crate) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    let value = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, value);
    response
}

fn new(status: StatusCode, kind: &'static str, body: String) -> Response<Bytes> {
    let mut response = empty(status).map(|_| Bytes::from(body));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
