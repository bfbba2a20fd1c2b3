//! Responses: refusals, single answers, event streams, and headers for browsers.

use core::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use mcp_proto::http::Refusal;
use mcp_proto::rpc::code;
use serde::Serialize;

use super::body::HttpBody;

pub(super) type Answer = Response<HttpBody>;

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Answer {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

/// A response without a body, of a status that the core has chosen.
pub(super) fn status(status: u16) -> Answer {
    empty(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
}

/// One message. Its length is known, so it leaves in one write.
pub(super) fn json(status: u16, body: impl Into<Bytes>) -> Answer {
    let body = body.into();
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(HttpBody::full(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CONTENT_LENGTH, length);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A message of the core with its status. 503 means a limit of ours, 429 one of the client.
pub(super) fn message(status: u16, message: Vec<u8>) -> Answer {
    let mut response = json(status, message);
    match response.status() {
        StatusCode::SERVICE_UNAVAILABLE => retry_after(&mut response, RETRY),
        StatusCode::TOO_MANY_REQUESTS => retry_after(&mut response, Duration::ZERO),
        _ => {}
    }
    response
}

/// An event stream. Proxies are asked to pass each event on at once (SH-40).
pub(super) fn events(body: HttpBody) -> Answer {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// A JSON-RPC error without id.
pub(super) fn error(status: StatusCode, code: i64, message: &str) -> Answer {
    #[derive(Serialize)]
    struct Body<'a> {
        jsonrpc: &'static str,
        error: Members<'a>,
    }

    #[derive(Serialize)]
    struct Members<'a> {
        code: i64,
        message: &'a str,
    }

    let body = Body {
        jsonrpc: "2.0",
        error: Members { code, message },
    };
    let body = mcp_proto::json::RawBuf::encode(&body).unwrap_or_default();
    json(status.as_u16(), body.as_raw().as_bytes().to_vec())
}

/// What a head is refused with. What a setting allows, it names.
pub(super) fn refusal(refusal: Refusal, methods: &'static str) -> Answer {
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let setting = match refusal {
        Refusal::Host => "; `allow_hosts` adds one, `allow_any_host` allows all",
        Refusal::Origin => "; `allow_origins` adds one",
        _ => "",
    };
    let mut response = error(status, refusal.code(), &format!("{refusal}{setting}"));
    match refusal {
        Refusal::Method | Refusal::StreamEnded => allow(&mut response, methods),
        Refusal::MethodOfRevision => allow(&mut response, "POST"),
        // The end of the request is uncertain, so what follows cannot be read as another one.
        Refusal::TransferEncoding | Refusal::TwoLengths => {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        _ => {}
    }
    response
}

/// The methods that the endpoint has instead (RFC 9110, section 15.5.6).
pub(super) fn allow(response: &mut Answer, methods: &'static str) {
    let methods = HeaderValue::from_static(methods);
    response.headers_mut().insert(header::ALLOW, methods);
}

/// A limit of ours was met before the request was accepted.
pub(super) fn busy(message: &str) -> Answer {
    let mut response = error(
        StatusCode::SERVICE_UNAVAILABLE,
        code::INTERNAL_ERROR,
        message,
    );
    retry_after(&mut response, RETRY);
    response
}

/// Nothing new is begun any more.
pub(super) fn closing() -> Answer {
    busy("the server is shutting down")
}

fn retry_after(response: &mut Answer, wait: Duration) {
    let seconds = HeaderValue::from(wait.as_secs().max(1));
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
}

/// A browser asks before it sends: everything that the endpoint has is allowed, and every field,
/// `Mcp-Param-*` included.
pub(super) fn preflight(parts: &Parts, methods: &'static str) -> Answer {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(methods),
    );
    for asked in parts
        .headers
        .get_all(header::ACCESS_CONTROL_REQUEST_HEADERS)
    {
        headers.append(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    headers.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("7200"),
    );
    response
}

/// Lets a page of this origin read the response.
pub(super) fn share(response: &mut Answer, origin: &HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"),
    );
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

/// When a client may try again.
const RETRY: Duration = Duration::from_secs(5);

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// SH-30
pub(super) fn no_session() -> Answer {
    error(
        StatusCode::NOT_FOUND,
        code::INVALID_REQUEST,
        "there is no such session, or no longer",
    )
}

/// Why a body is not taken.
pub(super) const FLOODED: &str = "the session has too many messages to take in";
