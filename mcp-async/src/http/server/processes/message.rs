//! What processes send to each other: one line of JSON, and bytes.

#[cfg(feature = "auth")]
use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
#[cfg(feature = "auth")]
use mcp_proto::auth::resource::Grant;
use serde::{Deserialize, Serialize};

use super::super::answer::Answer;
use super::super::body::HttpBody;
use super::super::caller::owner;
#[cfg(feature = "auth")]
use crate::server::Access;
use crate::server::{Announcement, Principal};

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
    pub(super) sender: Sender,
}

/// The sender of a request, as the process has verified it that the request arrived at.
#[derive(Serialize, Deserialize)]
pub(super) enum Sender {
    /// It was not verified.
    Unverified,
    /// A hook or a layer has found this name. The hook of the owner finds it again, because the
    /// claims of an application cannot be sent.
    Named(String),
    /// A token was verified, and no process has to do that again; `None` if guests need none.
    #[cfg(feature = "auth")]
    Token(Option<Box<Grant>>),
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

/// In the extensions of a request whose token another process has verified; `None` for a guest.
#[cfg(feature = "auth")]
#[derive(Clone)]
pub(in crate::http::server) struct VerifiedToken(pub(in crate::http::server) Option<Box<Grant>>);

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
            sender: Sender::of(parts),
        }
    }

    /// The request as the endpoint serves it.
    pub(super) fn request(self, body: &[u8]) -> Option<Request<HttpBody>> {
        let body = HttpBody::full(body.to_vec().into());
        let request = Request::builder().method(&*self.method).uri(&*self.uri);
        let mut request = request.body(body).ok()?;
        *request.headers_mut() = headers(&self.headers);
        let extensions = request.extensions_mut();
        extensions.insert(Forwarded);
        match self.sender {
            Sender::Unverified => {}
            // An endpoint that verifies senders itself replaces it.
            Sender::Named(name) => {
                extensions.insert(Principal::new(name));
            }
            #[cfg(feature = "auth")]
            Sender::Token(grant) => {
                extensions.insert(VerifiedToken(grant));
            }
        }
        Some(request)
    }
}

impl Sender {
    fn of(parts: &Parts) -> Self {
        #[cfg(feature = "auth")]
        if let Some(access) = parts.extensions.get::<Arc<Access>>() {
            return Self::Token(access.grant().cloned().map(Box::new));
        }
        match owner(parts) {
            Some(name) => Self::Named(name.to_string()),
            None => Self::Unverified,
        }
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
