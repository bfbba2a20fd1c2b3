//! Responses: what the core decides, as a response of the `http` crate.

use core::cell::Cell;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use mcp_proto::http::{
    BodyKind, FieldValue, Refusal, ResponseHead, SessionId, origin_fields, preflight_fields,
};
use mcp_proto::rpc::{self, ErrorObject, Message};
use mcp_proto::server::http::streams::StreamResponse;

use super::body::HttpBody;
use super::head::RequestHead;

pub(in crate::http::server) type Answer = Response<HttpBody>;

std::thread_local! {
    /// The storage of the fields of a request that has ended.
    static SPARE: Cell<HeaderMap> = Cell::default();
}

/// Keeps the storage of a request's fields, for those of the next response on the thread: two allocations.
pub(in crate::http::server) fn reuse(fields: &mut HeaderMap) {
    // Repeated fields have a storage of their own.
    if fields.capacity() <= MOST_KEPT && fields.len() == fields.keys_len() {
        fields.clear();
        // The thread is ending: nothing is kept.
        let _ = SPARE.try_with(|spare| spare.set(core::mem::take(fields)));
    }
}

/// A response without a body.
pub(in crate::http::server) fn empty(head: ResponseHead<'_>) -> Answer {
    with_head(head, HttpBody::empty())
}

/// One message of the core with its status.
pub(in crate::http::server) fn message(status: u16, message: Vec<u8>) -> Answer {
    with_body(ResponseHead::of_message(status), message)
}

/// An event stream.
pub(in crate::http::server) fn events(body: HttpBody) -> Answer {
    with_head(ResponseHead::of_events(), body)
}

/// A JSON-RPC error without id.
pub(in crate::http::server) fn error(status: StatusCode, code: i64, text: &str) -> Answer {
    message(status.as_u16(), error_body(code, text))
}

/// The response to a POST, unless it is not decided yet, or is an event stream.
pub(in crate::http::server) fn decided(response: StreamResponse) -> Option<Answer> {
    match response {
        StreamResponse::Status(found) => Some(empty(ResponseHead::of_status(found))),
        StreamResponse::Message {
            status,
            is_error,
            message: text,
        } => {
            let body = match is_error {
                true => HttpBody::error(text.into()),
                false => HttpBody::full(text.into()),
            };
            Some(with_head(ResponseHead::of_message(status), body))
        }
        StreamResponse::Refused(found) => Some(refusal(found, "")),
        StreamResponse::Pending | StreamResponse::Events | StreamResponse::Nothing => None,
    }
}

/// A refusal of the core. Its text names the setting that would allow the request, if there is one.
pub(in crate::http::server) fn refusal(refusal: Refusal, methods: &'static str) -> Answer {
    let setting = match refusal {
        Refusal::Host => "; `allow_hosts` adds one, `allow_any_host` allows all",
        Refusal::Origin => "; `allow_origins` adds one",
        _ => {
            return with_body(
                ResponseHead::of_refusal(refusal, methods),
                refusal.to_body(),
            );
        }
    };
    let body = error_body(refusal.code(), &format!("{refusal}{setting}"));
    with_body(ResponseHead::of_refusal(refusal, methods), body)
}

/// A limit of ours was met, or something is not available now. The text says so if the request may have run.
pub(in crate::http::server) fn busy(reason: &'static str) -> Answer {
    refusal(Refusal::Unavailable(reason), "")
}

/// Nothing new is begun any more.
pub(in crate::http::server) fn closing() -> Answer {
    busy(CLOSING)
}

/// There is no such session (SH-30).
pub(in crate::http::server) fn no_session() -> Answer {
    refusal(Refusal::SessionUnknown, "")
}

/// A browser asks before it sends.
pub(in crate::http::server) fn preflight(parts: &Parts, methods: &'static str) -> Answer {
    let mut response = empty(ResponseHead::no_content());
    let fields = response.headers_mut();
    preflight_fields(&RequestHead(parts), methods, |name, value| {
        append(fields, name, value);
    });
    response
}

/// Lets a page of this origin read the response.
pub(in crate::http::server) fn share(response: &mut Answer, origin: &HeaderValue) {
    let fields = response.headers_mut();
    origin_fields(origin.as_bytes(), |name, value| append(fields, name, value));
}

/// Names the session that the response opens.
pub(in crate::http::server) fn open_session(response: &mut Answer, id: &str) {
    let fields = response.headers_mut();
    let session = SessionId::new(id.as_bytes());
    let head = ResponseHead::of_status(200).opening(session);
    head.fields(|name, value| append(fields, name, value));
}

/// One message. Its length is known, so it leaves in one write, after the `Content-Length` that the HTTP server adds.
fn with_body(head: ResponseHead<'_>, body: Vec<u8>) -> Answer {
    with_head(head, HttpBody::full(body.into()))
}

fn with_head(head: ResponseHead<'_>, body: HttpBody) -> Answer {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let fields = response.headers_mut();
    *fields = SPARE.try_with(Cell::take).unwrap_or_default();
    fields.reserve(match head.content {
        BodyKind::Nothing => 0,
        BodyKind::Json => REQUEST_FIELDS,
        BodyKind::Events => RESPONSE_FIELDS,
    });
    head.fields(|name, value| append(fields, name, value));
    response
}

fn append(fields: &mut HeaderMap, name: &'static str, value: FieldValue<'_>) {
    let value = match value {
        // Most responses have these values, so they are checked at compile time.
        FieldValue::Static("application/json") => Ok(JSON),
        FieldValue::Static("no-store") => Ok(NO_STORE),
        FieldValue::Static(text) => Ok(HeaderValue::from_static(text)),
        FieldValue::Bytes(bytes) => HeaderValue::from_bytes(bytes),
    };
    let Ok(value) = value else { return };
    let name = match name {
        "content-type" => header::CONTENT_TYPE,
        "cache-control" => header::CACHE_CONTROL,
        // A process that the request was forwarded to may have set it.
        "access-control-allow-origin" => {
            fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
            return;
        }
        name => HeaderName::from_static(name),
    };
    fields.append(name, value);
}

fn error_body(code: i64, text: &str) -> Vec<u8> {
    let error = ErrorObject::new(code, text);
    let message = Message::Response(rpc::Response::new(None, Err(error)));
    let mut body = vec![0; 256];
    loop {
        match message.encode(&mut body) {
            Ok(len) => {
                body.truncate(len);
                return body;
            }
            Err(full) => body.resize(full.needed, 0),
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The fields of most responses.
const RESPONSE_FIELDS: usize = 4;

/// The capacity for the fields of most requests. hyper keeps that of a response with an idle connection.
const MOST_KEPT: usize = 24;

/// The number of fields of most requests: hyper reuses the map of a response for the next request of the connection.
const REQUEST_FIELDS: usize = 12;

/// The reason why nothing new is begun.
pub(in crate::http::server) const CLOSING: &str = "the server is shutting down";

/// The reason why a body is not taken.
pub(in crate::http::server) const FLOODED: &str = "the session has too many messages to take in";
