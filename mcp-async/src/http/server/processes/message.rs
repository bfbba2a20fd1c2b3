//! What processes say to each other: JSON, signed with a key that all of them have.

use core::net::SocketAddr;
#[cfg(feature = "auth")]
use std::sync::Arc;

use http::Response;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
#[cfg(feature = "auth")]
use mcp_auth::resource::Grant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::answer::Answer;
use super::super::body::HttpBody;
use super::super::sharing::Sharing;
use crate::net::RemoteAddr;
#[cfg(feature = "auth")]
use crate::server::Access;
use crate::server::{Announcement, DerivedKeys, Principal};

/// What this process says of itself to the others.
#[derive(Serialize, Deserialize)]
pub(super) struct Introduction {
    pub(super) process: String,
    /// The URL at which it is reached.
    pub(super) url: String,
    /// The last second since 1970 in which it is.
    pub(super) until: u64,
}

/// A request for a session of another process. It is bound to that process in one of its leases.
#[derive(Serialize, Deserialize)]
pub(super) struct ForwardedRequest {
    pub(super) to: String,
    pub(super) lease: u64,
    /// Used once.
    pub(super) nonce: String,
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) head: RequestLine,
    /// The SHA-256 of the body.
    pub(super) digest: String,
}

/// The head of a request.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestLine {
    method: String,
    uri: String,
    headers: Vec<(String, String)>,
    sender: Sender,
    /// The address that the connection of the client came from.
    peer: Option<SocketAddr>,
}

/// The sender of a request, as the process has verified it that the request arrived at.
#[derive(Serialize, Deserialize)]
enum Sender {
    /// It was not verified.
    Unverified,
    /// A hook or a layer has found this name, and claims of these types.
    Named(String, Vec<(String, serde_json::Value)>),
    /// A token was verified; `None` if guests need none.
    #[cfg(feature = "auth")]
    Token(Option<Box<Grant>>),
}

/// What the owner says to a forwarded request.
#[derive(Serialize, Deserialize)]
pub(super) struct ForwardedAnswer {
    /// That of the request.
    pub(super) nonce: String,
    pub(super) outcome: ForwardedOutcome,
}

#[derive(Serialize, Deserialize)]
pub(super) enum ForwardedOutcome {
    /// The head of the response; its body is that of the HTTP response.
    Head(StatusLine),
    /// The process does not own the session, or not in this lease. Nothing was done.
    NotOwner,
    /// The process does not take the request, for this reason. Nothing was done.
    Refused(String),
}

/// The head of a response.
#[derive(Serialize, Deserialize)]
pub(super) struct StatusLine {
    status: u16,
    headers: Vec<(String, String)>,
}

/// A change that all processes tell their clients of.
#[derive(Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) from: String,
    pub(super) change: Announcement,
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

/// A message with the version of what it is made of. The message is a member, not flattened, so that it is read
/// once and straight into its type.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    message: T,
}

pub(in crate::http::server) fn encode(message: &impl Serialize) -> Vec<u8> {
    let versioned = Versioned {
        v: VERSION,
        message,
    };
    serde_json::to_vec(&versioned).unwrap_or_default()
}

/// The message, if it is one of this version.
pub(in crate::http::server) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let Versioned { v, message } = serde_json::from_slice(bytes).ok()?;
    (v == VERSION).then_some(message)
}

/// The message, if it is of this version and another process has signed it.
pub(super) fn open<T: DeserializeOwned>(keys: &DerivedKeys, signed: &[u8]) -> Option<T> {
    let signed = core::str::from_utf8(signed).ok()?;
    decode(&keys.verify(signed)?)
}

impl RequestLine {
    /// The head, as far as the owner receives it: no token, no cookie, no proof.
    pub(super) fn of(parts: &Parts, sharing: &Sharing) -> Self {
        let keeps = |name: &HeaderName| {
            let listed = FORWARDED.contains(name) || name.as_str().starts_with("mcp-");
            listed || sharing.headers.contains(name)
        };
        let peer = parts.extensions.get::<RemoteAddr>();
        Self {
            method: parts.method.to_string(),
            uri: parts.uri.to_string(),
            headers: fields(&parts.headers, keeps),
            sender: Sender::of(parts, sharing),
            peer: peer.map(|RemoteAddr(address)| *address),
        }
    }

    /// The head as the endpoint serves it.
    pub(super) fn parts(self, sharing: &Sharing) -> Option<Parts> {
        let request = http::Request::builder()
            .method(&*self.method)
            .uri(&*self.uri);
        let (mut parts, ()) = request.body(()).ok()?.into_parts();
        parts.headers = headers(&self.headers);
        let extensions = &mut parts.extensions;
        extensions.insert(Forwarded);
        if let Some(peer) = self.peer {
            extensions.insert(RemoteAddr(peer));
        }
        match self.sender {
            Sender::Unverified => {}
            Sender::Named(name, claims) => {
                extensions.insert(sharing.with_claims(Principal::new(name), claims)?);
            }
            #[cfg(feature = "auth")]
            Sender::Token(grant) => {
                extensions.insert(VerifiedToken(grant));
            }
        }
        Some(parts)
    }
}

impl Sender {
    fn of(parts: &Parts, sharing: &Sharing) -> Self {
        #[cfg(feature = "auth")]
        if let Some(access) = parts.extensions.get::<Arc<Access>>() {
            return Self::Token(access.grant().cloned().map(Box::new));
        }
        match parts.extensions.get::<Principal>() {
            Some(principal) => {
                Self::Named(principal.name().to_owned(), sharing.claims_of(principal))
            }
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

    /// The length of the body, if it is stated.
    pub(super) fn length(&self) -> Option<usize> {
        let mut lengths = self.headers.iter();
        let (_, length) = lengths.find(|(name, _)| name == header::CONTENT_LENGTH.as_str())?;
        length.parse().ok()
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

/// The fields of a request that the owner receives, beside those of the protocol and those that the
/// program names.
const FORWARDED: [HeaderName; 9] = [
    header::ACCEPT,
    header::CONTENT_TYPE,
    header::FORWARDED,
    header::HOST,
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("baggage"),
    HeaderName::from_static("x-forwarded-for"),
];

/// The version of messages and records. A process leaves those of other versions alone.
const VERSION: u32 = 1;
