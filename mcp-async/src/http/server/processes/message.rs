//! What processes send to each other: one line of JSON, and bytes.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use serde::{Deserialize, Serialize};

use super::super::answer::Answer;
use super::super::body::HttpBody;
use super::super::caller::owner;
use crate::server::Announcement;

/// A message of another process. `from` is the process that forwards a request, and `number` its number
/// of it.
#[derive(Serialize, Deserialize)]
pub(super) enum Message {
    /// A request, with its body.
    Request {
        from: String,
        number: u64,
        head: RequestLine,
    },
    /// The head of the response, and the first part of its body.
    Response {
        number: u64,
        head: StatusLine,
        end: bool,
    },
    /// There is no response: another process owns the session.
    Moved { number: u64 },
    /// The next part of its body. The head came with part 0.
    Part { number: u64, part: u64, end: bool },
    /// The client has read so many parts.
    Read {
        from: String,
        number: u64,
        parts: u64,
    },
    /// The client is gone.
    Cancel { from: String, number: u64 },
    /// A list or a resource of the server has changed.
    Changed(Announcement),
}

/// The head of a request.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestLine {
    method: String,
    uri: String,
    headers: Vec<(String, String)>,
    /// The name of the sender, for an endpoint that verifies none itself.
    pub(super) principal: Option<String>,
}

/// The head of a response.
#[derive(Serialize, Deserialize)]
pub(super) struct StatusLine {
    status: u16,
    headers: Vec<(String, String)>,
}

/// In the extensions of a request that another process has forwarded.
#[derive(Clone, Copy)]
pub(in crate::http::server) struct Forwarded;

/// In the extensions of a response that says that another process owns the session of a forwarded
/// request.
#[derive(Clone, Copy)]
pub(in crate::http::server) struct NotOwner;

impl Message {
    pub(super) fn encode(&self, body: &[u8]) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        bytes
    }

    /// The message and its bytes, if it is one.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, body) = bytes.split_at_checked(end)?;
        Some((serde_json::from_slice(line).ok()?, body.get(1..)?))
    }
}

impl RequestLine {
    pub(super) fn of(parts: &Parts) -> Self {
        // Framing belongs to a connection, and the origin was checked where the request arrived.
        let dropped = [
            header::CONNECTION,
            header::CONTENT_LENGTH,
            header::EXPECT,
            header::ORIGIN,
            header::TRANSFER_ENCODING,
        ];
        Self {
            method: parts.method.to_string(),
            uri: parts.uri.to_string(),
            headers: fields(&parts.headers, |name| !dropped.contains(name)),
            principal: owner(parts).map(|name| name.to_string()),
        }
    }

    pub(super) fn request(&self, body: &[u8]) -> Option<Request<HttpBody>> {
        let body = HttpBody::full(body.to_vec().into());
        let request = Request::builder().method(&*self.method).uri(&*self.uri);
        let mut request = request.body(body).ok()?;
        *request.headers_mut() = headers(&self.headers);
        request.extensions_mut().insert(Forwarded);
        Some(request)
    }
}

impl StatusLine {
    pub(super) fn of(response: &Answer) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: fields(response.headers(), |_| true),
        }
    }

    pub(super) fn response(&self, body: HttpBody) -> Option<Answer> {
        let mut response = Response::builder().status(self.status).body(body).ok()?;
        *response.headers_mut() = headers(&self.headers);
        Some(response)
    }
}

/// Header fields as text: each byte is one character.
fn fields(headers: &HeaderMap, keeps: impl Fn(&HeaderName) -> bool) -> Vec<(String, String)> {
    let kept = headers.iter().filter(|(name, _)| keeps(name));
    kept.map(|(name, value)| {
        let value = value.as_bytes().iter().copied().map(char::from).collect();
        (name.as_str().to_owned(), value)
    })
    .collect()
}

fn headers(fields: &[(String, String)]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        let bytes = value
            .chars()
            .map(u8::try_from)
            .collect::<Result<Vec<_>, _>>();
        let value = bytes
            .ok()
            .and_then(|bytes| HeaderValue::from_bytes(&bytes).ok());
        if let (Ok(name), Some(value)) = (HeaderName::try_from(name), value) {
            headers.append(name, value);
        }
    }
    headers
}

/// Parts of one response that are under way at a time.
pub(super) const WINDOW: u64 = 32;
