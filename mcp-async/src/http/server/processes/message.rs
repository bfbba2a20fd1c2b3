//! Messages of processes to each other: in the format of postcard, signed with a key that all of them have.

use core::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::borrow::Cow;
#[cfg(feature = "auth")]
use std::sync::Arc;

use hmac_sha256::Hash as Sha256;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Request, Response, StatusCode, response};
use http_body::Body as _;
#[cfg(feature = "auth")]
use mcp_auth::resource::Admission;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use super::sharing::ProcessSettings;
use crate::http::server::messages::answer::Answer;
use crate::http::server::messages::body::HttpBody;
use crate::net::RemoteAddr;
#[cfg(feature = "auth")]
use crate::server::Access;
use crate::server::{Announcement, DerivedKeys, Principal};

/// The announcement of a process, which the others find in the store.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct Introduction {
    pub(in crate::http::server) process: String,
    /// The URL at which the process is reached.
    pub(in crate::http::server) url: String,
    /// The last second since 1970 in which the announcement is valid.
    pub(in crate::http::server) until: u64,
}

/// A request for a session of another process. It is bound to that process in one of its leases.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct ForwardedRequest<'a> {
    pub(in crate::http::server) to: &'a str,
    pub(in crate::http::server) lease: u64,
    /// Used once.
    pub(in crate::http::server) nonce: u128,
    /// Seconds since 1970.
    pub(in crate::http::server) time: u64,
    #[serde(borrow)]
    pub(in crate::http::server) head: RequestLine<'a>,
    /// The SHA-256 of the body.
    #[serde(borrow)]
    pub(in crate::http::server) digest: ByteString<'a>,
}

/// The head of a request.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct RequestLine<'a> {
    method: &'a str,
    #[serde(borrow)]
    uri: Cow<'a, str>,
    #[serde(borrow)]
    headers: Fields<'a>,
    #[serde(borrow)]
    sender: Sender<'a>,
    /// The address that the connection of the client came from.
    peer: Option<PeerAddress>,
}

/// Names and values of header fields.
type Fields<'a> = Vec<(FieldName<'a>, ByteString<'a>)>;

/// The name of a header field.
#[derive(Serialize, Deserialize)]
enum FieldName<'a> {
    /// The index of the name in [`NUMBERED`].
    Numbered(u8),
    Text(&'a str),
}

/// Bytes that are written at once: a slice would be written one element after the other.
#[derive(Deserialize)]
pub(in crate::http::server) struct ByteString<'a>(
    #[serde(borrow)] pub(in crate::http::server) &'a [u8],
);

/// An address with its scope, which a [`SocketAddr`] is written without.
#[derive(Serialize, Deserialize)]
struct PeerAddress {
    ip: IpAddr,
    port: u16,
    scope: u32,
}

/// The sender of a request, as the process has verified it that the request arrived at.
#[derive(Serialize, Deserialize)]
enum Sender<'a> {
    /// It was not verified.
    Unverified,
    /// A hook or a layer has found this name, and claims by these names, as JSON.
    Named(&'a str, #[serde(borrow)] Vec<(&'a str, String)>),
    /// A token was verified, with this admission as JSON; `None` if guests need none. It stays the last one: there are builds
    /// without it.
    #[cfg(feature = "auth")]
    Token(Option<String>),
}

/// The owner's answer to a forwarded request.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct ForwardedAnswer<'a> {
    /// The process that answers.
    pub(in crate::http::server) from: &'a str,
    /// The nonce of the request.
    pub(in crate::http::server) nonce: u128,
    pub(in crate::http::server) outcome: ForwardedOutcome<'a>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::http::server) enum ForwardedOutcome<'a> {
    /// The head of the response; its body is that of the HTTP response.
    #[serde(borrow)]
    Head(StatusLine<'a>),
    /// The process does not own the session, or not in this lease. Nothing was done.
    NotOwner,
    /// The process does not take the request, for this reason. Nothing was done.
    Refused(&'a str),
    /// The process has taken the request before.
    Repeated,
}

/// The head of a response.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct StatusLine<'a> {
    status: u16,
    #[serde(borrow)]
    headers: Fields<'a>,
    /// The length of the body, if that is known before it is read.
    pub(in crate::http::server) length: Option<u64>,
}

/// A change of which all processes notify their clients.
#[derive(Serialize, Deserialize)]
pub(in crate::http::server) struct Changed {
    pub(in crate::http::server) from: String,
    pub(in crate::http::server) change: Announcement,
}

/// Marks, in its extensions, a request that another process has forwarded.
#[derive(Clone, Copy)]
pub(in crate::http::server) struct Forwarded;

/// The admission in the extensions of a request whose token another process has verified; `None` for a guest.
#[cfg(feature = "auth")]
#[derive(Clone)]
pub(in crate::http::server) struct VerifiedToken(
    pub(in crate::http::server) Option<Box<Admission>>,
);

/// Marks, in its extensions, the response to a forwarded request whose session another process owns.
#[derive(Clone, Copy)]
pub(in crate::http::server) struct NotOwner;

/// A message with the version of its format.
type Versioned<T> = (u32, T);

/// Signs a message.
pub(in crate::http::server) fn seal(keys: &DerivedKeys, message: &impl Serialize) -> String {
    let versioned: Versioned<_> = (VERSION, message);
    let bytes = postcard::to_extend(&versioned, Vec::with_capacity(USUAL));
    keys.sign(bytes.unwrap_or_default())
}

/// Returns the message in the bytes that [`DerivedKeys::verify`] returned, if it is of this version.
pub(in crate::http::server) fn read<'a, T: Deserialize<'a>>(verified: &'a [u8]) -> Option<T> {
    let ((version, message), rest) = postcard::take_from_bytes::<Versioned<T>>(verified).ok()?;
    (version == VERSION && rest.is_empty()).then_some(message)
}

/// Returns the message, if it is of this version and a process with the same keys has signed it.
pub(in crate::http::server) fn open<T: DeserializeOwned>(
    keys: &DerivedKeys,
    signed: &[u8],
) -> Option<T> {
    read(&keys.verify(signed)?)
}

pub(in crate::http::server) fn digest(body: &[u8]) -> [u8; 32] {
    Sha256::hash(body)
}

impl<'a> RequestLine<'a> {
    /// The head, as far as the owner receives it: no token, no cookie, no proof.
    pub(in crate::http::server) fn of(parts: &'a Parts, shared: &ProcessSettings) -> Self {
        let keeps = |name: &HeaderName| {
            let listed = FORWARDED.contains(name) || name.as_str().starts_with("mcp-");
            listed || shared.headers.contains(name)
        };
        let peer = parts.extensions.get::<RemoteAddr>();
        Self {
            method: parts.method.as_str(),
            uri: match (parts.uri.authority(), parts.uri.path_and_query()) {
                (None, Some(path)) => path.as_str().into(),
                _ => parts.uri.to_string().into(),
            },
            headers: fields(&parts.headers, keeps),
            sender: Sender::of(parts, shared),
            peer: peer.map(|RemoteAddr(address)| PeerAddress::of(*address)),
        }
    }

    /// The head as the endpoint serves it. Nothing of the head that it was received in is left, but for the memory of its
    /// headers and extensions.
    pub(in crate::http::server) fn parts(
        &self,
        shared: &ProcessSettings,
        received: Parts,
    ) -> Option<Parts> {
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = self.method.parse().ok()?;
        parts.uri = self.uri.parse().ok()?;
        parts.headers = refilled(received.headers, &self.headers);
        parts.extensions = received.extensions;
        let extensions = &mut parts.extensions;
        extensions.clear();
        extensions.insert(Forwarded);
        if let Some(peer) = &self.peer {
            extensions.insert(RemoteAddr(peer.address()));
        }
        match &self.sender {
            Sender::Unverified => {}
            Sender::Named(name, claims) => {
                extensions.insert(shared.with_claims(Principal::new(*name), claims)?);
            }
            #[cfg(feature = "auth")]
            Sender::Token(admission) => {
                let admission = admission.as_deref().map(serde_json::from_str);
                extensions.insert(VerifiedToken(admission.transpose().ok()?));
            }
        }
        Some(parts)
    }
}

impl<'a> Sender<'a> {
    fn of(parts: &'a Parts, shared: &ProcessSettings) -> Self {
        #[cfg(feature = "auth")]
        if let Some(access) = parts.extensions.get::<Arc<Access>>() {
            let json = |admission| serde_json::to_string(admission).unwrap_or_default();
            return Self::Token(access.admission().map(json));
        }
        match parts.extensions.get::<Principal>() {
            Some(principal) => Self::Named(principal.name(), shared.claims_of(principal)),
            None => Self::Unverified,
        }
    }
}

impl<'a> StatusLine<'a> {
    pub(in crate::http::server) fn of(head: &'a response::Parts, body: &HttpBody) -> Self {
        Self {
            status: head.status.as_u16(),
            headers: fields(&head.headers, |_| true),
            length: body.size_hint().exact(),
        }
    }

    /// The response with this head. It takes the memory of the headers that the answer was received with.
    pub(in crate::http::server) fn response(
        &self,
        received: HeaderMap,
        body: HttpBody,
    ) -> Option<Answer> {
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).ok()?;
        let mut headers = refilled(received, &self.headers);
        // hyper adds a length of zero itself, where there may be one.
        if let Some(length @ 1..) = self.length {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        *response.headers_mut() = headers;
        Some(response)
    }
}

impl<'a> FieldName<'a> {
    fn of(name: &'a HeaderName) -> Self {
        let index = NUMBERED.iter().position(|numbered| numbered == name);
        let number = index.and_then(|index| u8::try_from(index).ok());
        number.map_or(Self::Text(name.as_str()), Self::Numbered)
    }

    fn to_header_name(&self) -> Option<HeaderName> {
        match self {
            Self::Numbered(number) => NUMBERED.get(usize::from(*number)).cloned(),
            Self::Text(text) => HeaderName::try_from(*text).ok(),
        }
    }
}

impl Serialize for ByteString<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl PeerAddress {
    const fn of(address: SocketAddr) -> Self {
        Self {
            ip: address.ip(),
            port: address.port(),
            scope: match address {
                SocketAddr::V4(_) => 0,
                SocketAddr::V6(address) => address.scope_id(),
            },
        }
    }

    const fn address(&self) -> SocketAddr {
        match self.ip {
            IpAddr::V4(_) => SocketAddr::new(self.ip, self.port),
            IpAddr::V6(ip) => SocketAddr::V6(SocketAddrV6::new(ip, self.port, 0, self.scope)),
        }
    }
}

fn fields(headers: &HeaderMap, keeps: impl Fn(&HeaderName) -> bool) -> Fields<'_> {
    let mut fields = Vec::with_capacity(headers.len());
    let kept = headers.iter().filter(|(name, _)| keeps(name));
    fields.extend(kept.map(|(name, value)| (FieldName::of(name), ByteString(value.as_bytes()))));
    fields
}

/// These fields, in the memory of other headers.
fn refilled(mut headers: HeaderMap, fields: &Fields<'_>) -> HeaderMap {
    headers.clear();
    for (name, value) in fields {
        if let (Some(name), Ok(value)) = (name.to_header_name(), HeaderValue::from_bytes(value.0)) {
            headers.append(name, value);
        }
    }
    headers
}

/// The names that most requests of sessions and their answers have.
static NUMBERED: [HeaderName; 6] = [
    header::ACCEPT,
    header::CACHE_CONTROL,
    header::CONTENT_TYPE,
    header::HOST,
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
];

/// The fields of a request that the owner receives, in addition to those of the protocol and those that
/// the program names.
static FORWARDED: [HeaderName; 9] = [
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

/// The size of most messages, with their MAC.
const USUAL: usize = 512;

/// The version of messages. A process does not read those of other versions.
const VERSION: u32 = 2;

#[cfg(test)]
mod tests {
    use core::fmt::Write as _;

    use super::*;
    use crate::server::List;

    #[track_caller]
    fn check(message: &impl Serialize, expected: &str) {
        let bytes = postcard::to_allocvec(&(VERSION, message)).unwrap();
        let mut hex = String::new();
        bytes
            .iter()
            .for_each(|byte| write!(hex, "{byte:02x}").unwrap());
        assert_eq!(hex, expected.replace(' ', ""));
    }

    /// The members of messages have no names, and some header names are numbers: another order is another version.
    #[test]
    fn the_format_of_this_version() {
        let request = ForwardedRequest {
            to: "p",
            lease: 2,
            nonce: 300,
            time: 4,
            head: RequestLine {
                method: "POST",
                uri: "/".into(),
                headers: vec![
                    (FieldName::of(&header::HOST), ByteString(b"h")),
                    (FieldName::Text("a"), ByteString(b"b")),
                ],
                sender: Sender::Unverified,
                peer: Some(PeerAddress::of(([1, 2, 3, 4], 5).into())),
            },
            digest: ByteString(&[7; 32]),
        };
        let digest = "07".repeat(32);
        check(
            &request,
            &format!(
                "02 0170 02 ac02 04 04504f5354 012f 02 0003 0168 01 0161 0162 00 01 00 01020304 05 00 20 {digest}"
            ),
        );
        check(
            &Sender::Named("n", vec![("c", "1".into())]),
            "02 01 016e 01 0163 0131",
        );
        #[cfg(feature = "auth")]
        check(&Sender::Token(None), "02 02 00");

        let outcomes = [
            (
                ForwardedOutcome::Head(StatusLine {
                    status: 200,
                    headers: vec![(FieldName::Text("a"), ByteString(b"b"))],
                    length: Some(3),
                }),
                "00 c801 01 01 0161 0162 01 03",
            ),
            (ForwardedOutcome::NotOwner, "01"),
            (ForwardedOutcome::Refused("no"), "02 026e6f"),
            (ForwardedOutcome::Repeated, "03"),
        ];
        for (outcome, expected) in outcomes {
            let answer = ForwardedAnswer {
                from: "p",
                nonce: 300,
                outcome,
            };
            check(&answer, &format!("02 0170 ac02 {expected}"));
        }

        let introduction = Introduction {
            process: "p".into(),
            url: "u".into(),
            until: 1,
        };
        check(&introduction, "02 0170 0175 01");
        for (list, number) in [
            (List::Tools, "00"),
            (List::Prompts, "01"),
            (List::Resources, "02"),
        ] {
            let change = Announcement::List {
                list,
                principal: None,
            };
            let from = "p".into();
            check(
                &Changed { from, change },
                &format!("02 0170 00 {number} 00"),
            );
        }
        let change = Announcement::Resource {
            uri: "u".into(),
            principal: Some("n".into()),
        };
        let from = "p".into();
        check(&Changed { from, change }, "02 0170 01 0175 01 016e");
    }

    #[test]
    fn a_message_that_is_shorter_or_longer_or_of_another_version_is_not_read() {
        let outcome = || {
            ForwardedOutcome::Head(StatusLine {
                status: 200,
                headers: vec![(FieldName::of(&header::HOST), ByteString(b"h"))],
                length: None,
            })
        };
        let bytes = |version: u32| {
            let (from, nonce) = ("p", 300);
            let answer = ForwardedAnswer {
                from,
                nonce,
                outcome: outcome(),
            };
            postcard::to_allocvec(&(version, answer)).unwrap()
        };
        let is_read = |bytes: &[u8]| read::<ForwardedAnswer<'_>>(bytes).is_some();
        let mut known = bytes(VERSION);
        assert!(is_read(&known));
        (0..known.len()).for_each(|len| assert!(!is_read(&known[..len]), "{len}"));
        known.push(0);
        assert!(!is_read(&known));
        assert!(!is_read(&bytes(VERSION + 1)));
    }

    #[test]
    fn the_address_of_a_peer_keeps_its_scope() {
        for address in ["192.0.2.1:80", "[2001:db8::1]:443", "[fe80::1%7]:1"] {
            let address = address.parse().unwrap();
            let bytes = postcard::to_allocvec(&PeerAddress::of(address)).unwrap();
            let read: PeerAddress = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(read.address(), address);
        }
    }
}
