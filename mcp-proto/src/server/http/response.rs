//! Heads of responses, and bodies that no machine writes.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use crate::http::media::{EVENT_STREAM, JSON};
use crate::http::{Head, Refusal};
use crate::json::Writer;
use crate::rpc::{ErrorObject, code, envelope};

/// The head of a response: the status line and the fields that the protocol asks for.
///
/// The fields that frame the body are the driver's: `Content-Length` where
/// [`length`](Self::length) is known, otherwise chunks, or the end of the connection.
///
/// ```
/// use mcp_proto::server::http::ResponseHead;
///
/// /// The head as HTTP/1.1 writes it.
/// fn write(head: &ResponseHead, out: &mut Vec<u8>) {
///     out.extend_from_slice(format!("HTTP/1.1 {} \r\n", head.status).as_bytes());
///     head.fields(&mut |name, value| {
///         out.extend_from_slice(name.as_bytes());
///         out.extend_from_slice(b": ");
///         out.extend_from_slice(value);
///         out.extend_from_slice(b"\r\n");
///     });
///     match head.length {
///         // RFC 9110, section 8.6: a 204 has no such field.
///         Some(_) if head.status == 204 => {}
///         Some(length) => out.extend_from_slice(format!("content-length: {length}\r\n").as_bytes()),
///         None => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
///     }
///     out.extend_from_slice(b"\r\n");
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// The length of the body; `None` for an event stream, which ends when
    /// [`read`](super::HttpServer::read) says so.
    pub length: Option<usize>,
    /// Whether the connection must be closed after the response: the request was not read to its
    /// end, so it is unknown where the next one begins.
    pub close: bool,
    allow: Option<&'static str>,
    /// Seconds after which the client may try again.
    retry: Option<&'static [u8]>,
    session: Option<Box<str>>,
    origin: Option<Box<[u8]>>,
    preflight: Option<Box<Preflight>>,
}

/// What a browser asked before its request.
#[derive(Clone, PartialEq, Eq)]
struct Preflight {
    methods: &'static str,
    /// The fields that it wants to send.
    fields: Vec<Box<[u8]>>,
}

/// A head and the whole body after it.
pub(super) type Response = (ResponseHead, Vec<u8>);

impl ResponseHead {
    const fn new(status: u16, length: Option<usize>) -> Self {
        Self {
            status,
            length,
            close: false,
            allow: None,
            retry: None,
            session: None,
            origin: None,
            preflight: None,
        }
    }

    /// Calls `each` with the name, in lower case, and the value of every field.
    pub fn fields(&self, each: &mut dyn FnMut(&str, &[u8])) {
        match self.length {
            Some(0) => {}
            Some(_) => {
                each("content-type", JSON.as_bytes());
                each("cache-control", b"no-store");
            }
            None => {
                each("content-type", EVENT_STREAM.as_bytes());
                each("cache-control", b"no-cache");
                // SH-40: proxies are asked to pass each event on at once.
                each("x-accel-buffering", b"no");
            }
        }
        if let Some(session) = &self.session {
            each("mcp-session-id", session.as_bytes());
        }
        if let Some(allow) = self.allow {
            each("allow", allow.as_bytes());
        }
        if let Some(seconds) = self.retry {
            each("retry-after", seconds);
        }
        if let Some(preflight) = &self.preflight {
            each("access-control-allow-methods", preflight.methods.as_bytes());
            for field in &preflight.fields {
                each("access-control-allow-headers", field);
            }
            each("access-control-max-age", b"7200");
        }
        if let Some(origin) = &self.origin {
            each("access-control-allow-origin", origin);
            each("access-control-expose-headers", EXPOSED);
            each("vary", b"Origin");
        }
        if self.close {
            each("connection", b"close");
        }
    }

    /// The head of an event stream.
    pub(super) const fn events() -> Self {
        Self::new(200, None)
    }

    pub(super) fn set_session(&mut self, id: &str) {
        self.session = Some(id.into());
    }

    pub(super) fn set_origin(&mut self, origin: Option<Box<[u8]>>) {
        self.origin = origin;
    }
}

impl fmt::Debug for ResponseHead {
    /// Without the session id, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("length", &self.length)
            .field("close", &self.close)
            .finish_non_exhaustive()
    }
}

/// A status without a body.
pub(super) const fn status(status: u16) -> Response {
    (ResponseHead::new(status, Some(0)), Vec::new())
}

/// One message. Status 503 means that a limit of the server was reached, 429 one of the client.
pub(super) fn message(status: u16, message: Vec<u8>) -> Response {
    let mut head = ResponseHead::new(status, Some(message.len()));
    head.retry = match status {
        UNAVAILABLE => Some(b"5"),
        TOO_MANY_REQUESTS => Some(b"1"),
        _ => None,
    };
    (head, message)
}

/// A head that is refused.
pub(super) fn refusal(refusal: Refusal, methods: &'static str) -> Response {
    let mut body = [0; 256];
    let len = refusal.write(&mut body).unwrap_or_default();
    let body = body.get(..len).unwrap_or_default().to_vec();
    let (mut head, body) = message(refusal.status(), body);
    head.allow = match refusal {
        Refusal::Method | Refusal::StreamEnded => Some(methods),
        Refusal::MethodOfRevision => Some("POST"),
        _ => None,
    };
    head.close = matches!(refusal, Refusal::TransferEncoding | Refusal::TwoLengths);
    (head, body)
}

/// SH-30
pub(super) fn no_session() -> Response {
    error(
        404,
        code::INVALID_REQUEST,
        "there is no such session, or no longer",
    )
}

/// A limit was reached before the request was accepted.
pub(super) fn busy(reason: &str) -> Response {
    error(UNAVAILABLE, code::INTERNAL_ERROR, reason)
}

/// The body is longer than the limit.
pub(super) fn too_long(limit: usize) -> Response {
    let text = format!("the body is longer than {limit} bytes");
    error(413, code::INVALID_REQUEST, &text)
}

/// The body takes too much time.
pub(super) fn late() -> Response {
    let text = "the body did not come in time";
    error(408, code::INVALID_REQUEST, text)
}

/// A JSON-RPC error without id.
pub(super) fn error(status: u16, code: i64, text: &str) -> Response {
    let mut body = [0; 256];
    let mut w = Writer::new(&mut body);
    envelope::error(&mut w, None, &ErrorObject::new(code, text));
    let len = w.finish().unwrap_or_default();
    message(status, body.get(..len).unwrap_or_default().to_vec())
}

/// The answer to a browser that asks before it sends: everything that the endpoint has is
/// allowed, and every field, `Mcp-Param-*` included.
pub(super) fn preflight(head: &(impl Head + ?Sized), methods: &'static str) -> Response {
    let mut fields = Vec::new();
    head.values("access-control-request-headers", &mut |value| {
        fields.push(value.into());
    });
    let (mut response, body) = status(204);
    response.preflight = Some(Box::new(Preflight { methods, fields }));
    (response, body)
}

const UNAVAILABLE: u16 = 503;
const TOO_MANY_REQUESTS: u16 = 429;

const EXPOSED: &[u8] = b"Mcp-Session-Id, WWW-Authenticate";
