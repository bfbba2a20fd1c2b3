//! Accepts or refuses requests by their heads.

use super::access::{Access, is_host};
use super::head::SessionId;
use super::head::{Field, Head, trim};
use super::media::{EVENT_STREAM, JSON, accepts, is};
use super::refusal::Refusal;
use crate::revision::{Http, Revision, RevisionSet};

/// The settings of an endpoint, known before any request and shared by all requests without a lock.
///
/// ```
/// # struct Post(&'static str);
/// # impl mcp_proto::http::Head for Post {
/// #     fn method(&self) -> &str { "POST" }
/// #     fn path(&self) -> &str { "/mcp" }
/// #     fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
/// #         match name {
/// #             "host" => each(self.0.as_bytes()),
/// #             "content-type" => each(b"application/json"),
/// #             "mcp-protocol-version" => each(b"2026-07-28"),
/// #             _ => {}
/// #         }
/// #     }
/// # }
/// use mcp_proto::Revision;
/// use mcp_proto::http::{Endpoint, Opening, Refusal, Version};
///
/// let endpoint = Endpoint::default();
/// let Ok(Opening::Post(post)) = endpoint.open(&Post("localhost:8000")) else { panic!() };
/// assert_eq!(post.version, Version::Known(Revision::V2026_07_28));
/// assert_eq!(endpoint.open(&Post("attacker.example")).unwrap_err(), Refusal::Host);
/// ```
#[derive(Debug)]
pub struct Endpoint<'c, T = &'c str> {
    /// The path of the endpoint; `None` if a router has already checked it.
    pub path: Option<&'c str>,
    /// The hosts that the endpoint answers to, and the browser origins that it accepts.
    pub access: Access<'c, T>,
    /// The revisions that it serves. Without a legacy one there are no streams to open and no
    /// sessions to end (SH-41).
    pub revisions: RevisionSet,
    /// True if `initialize` opens a session, so that legacy messages without one are refused
    /// (SH-29). Otherwise each message is handled alone, nothing is remembered between two, and POST is the only method.
    pub sessions: bool,
}

/// A request that was let in, as far as its head goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening<'h> {
    /// Messages: read the body.
    Post(Post<'h>),
    /// A stream of a session is to be opened, or resumed.
    Get(Get<'h>),
    /// A session is to be ended (SH-31).
    Delete(SessionId<'h>),
    /// A browser asks whether a page of an allowed origin may send a request (CORS).
    Preflight,
}

/// The head of a POST, to be compared with its body. `Debug` does not show the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Post<'h> {
    /// `MCP-Protocol-Version`.
    pub version: Version<'h>,
    /// `Mcp-Session-Id`, which only legacy requests have; modern ones ignore it (SH-41).
    pub session: Option<&'h [u8]>,
    /// `Mcp-Method` and `Mcp-Name`, which modern requests repeat from their body (SH-38).
    pub method: Option<&'h [u8]>,
    /// See [`method`](Self::method).
    pub name: Option<&'h [u8]>,
}

/// The head of a GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Get<'h> {
    /// The session.
    pub session: SessionId<'h>,
    /// `Last-Event-ID`: the stream that it belongs to is resumed behind it (SH-26).
    pub last_event_id: Option<&'h [u8]>,
}

/// The value of the header `MCP-Protocol-Version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version<'h> {
    /// Nothing: an old client, or a mistake (SH-32, SH-37). A legacy message without a session is
    /// then one of [`Revision::WITHOUT_HEADER`].
    Absent,
    /// A revision of this crate, served here or not.
    Known(Revision),
    /// Another value; the body states whose mistake it is (SH-33, SH-35).
    Unknown(&'h [u8]),
}

impl Default for Endpoint<'static> {
    /// At `/mcp`, for this machine alone, in every published revision and with sessions.
    fn default() -> Self {
        Self {
            path: Some("/mcp"),
            access: Access::LOOPBACK,
            revisions: RevisionSet::all(),
            sessions: true,
        }
    }
}

impl<T> Clone for Endpoint<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Endpoint<'_, T> {}

impl<T: AsRef<str>> Endpoint<'_, T> {
    /// Judges a head. A request that is refused here needs no body: answer with the refusal's
    /// status and text, and close.
    ///
    /// # Errors
    /// See [`Refusal`], in the order of its checks: path, transfer coding, host, origin, HTTP
    /// method, media types, doubled fields.
    pub fn open<'h>(&self, head: &'h (impl Head + ?Sized)) -> Result<Opening<'h>, Refusal> {
        self.admit(head)?;
        match head.method() {
            "POST" => self.post(head).map(Opening::Post),
            "GET" if self.has_streams() => self.get(head).map(Opening::Get),
            "DELETE" if self.has_streams() => {
                self.legacy_version(head)?;
                session(head).map(Opening::Delete)
            }
            _ if is_preflight(head) => Ok(Opening::Preflight),
            _ => Err(Refusal::Method),
        }
    }

    /// Judges only the path, the host, the origin and the framing of a request: the first part of
    /// [`open`](Self::open) and [`open_http_sse`](Self::open_http_sse).
    ///
    /// # Errors
    /// [`Refusal::Path`], [`Refusal::TransferEncoding`], [`Refusal::TwoLengths`],
    /// [`Refusal::HostMalformed`], [`Refusal::Host`], [`Refusal::Origin`].
    pub fn admit(&self, head: &(impl Head + ?Sized)) -> Result<(), Refusal> {
        if self.path.is_some_and(|path| path != head.path()) {
            return Err(Refusal::Path);
        }
        match head.field("transfer-encoding") {
            Field::None => {}
            Field::One(coding) if coding.eq_ignore_ascii_case(b"chunked") => {
                if head.field("content-length") != Field::None {
                    return Err(Refusal::TwoLengths);
                }
            }
            _ => return Err(Refusal::TransferEncoding),
        }
        match head.field("host") {
            Field::One(host) if !is_host(host) => return Err(Refusal::HostMalformed),
            Field::One(host) if self.access.allows_host(host) => {}
            // Without a host there is nothing to check, and where every host is allowed there is
            // no need to.
            Field::None if !head.requires_host() && self.access.hosts.is_none() => {}
            Field::None if !head.requires_host() => return Err(Refusal::Host),
            Field::One(_) => return Err(Refusal::Host),
            Field::None | Field::Many => return Err(Refusal::HostMalformed),
        }
        match head.field("origin") {
            Field::None => {}
            Field::One(origin) if self.access.allows_origin(origin) => {}
            _ => return Err(Refusal::Origin),
        }
        Ok(())
    }

    /// The HTTP methods of the endpoint, for `Allow` and for CORS: `GET, POST, DELETE`, or `POST`
    /// without sessions.
    pub fn methods(&self) -> &'static str {
        if self.has_streams() {
            "GET, POST, DELETE"
        } else {
            "POST"
        }
    }

    fn post<'h>(&self, head: &'h (impl Head + ?Sized)) -> Result<Post<'h>, Refusal> {
        match head.field("content-type") {
            Field::One(kind) if is(kind, JSON) => {}
            _ => return Err(Refusal::ContentType),
        }
        if !accepts(head, JSON) || !accepts(head, EVENT_STREAM) {
            return Err(Refusal::Accept);
        }
        post_fields(head).map_err(|refusal| match refusal {
            // There is no other era.
            Refusal::Doubled { field, .. } if !self.serves_legacy() => Refusal::Doubled {
                field,
                modern: true,
            },
            refusal => refusal,
        })
    }

    fn get<'h>(&self, head: &'h (impl Head + ?Sized)) -> Result<Get<'h>, Refusal> {
        self.legacy_version(head)?;
        if !accepts(head, EVENT_STREAM) {
            return Err(Refusal::Accept);
        }
        Ok(Get {
            session: session(head)?,
            last_event_id: single(head, "last-event-id", "Last-Event-ID")?,
        })
    }

    /// A GET or a DELETE has no body that could say more.
    fn legacy_version(&self, head: &(impl Head + ?Sized)) -> Result<(), Refusal> {
        match version(head)? {
            Version::Absent => Ok(()),
            Version::Known(revision) if self.revisions.contains(revision) => {
                match revision.http() {
                    Http::TwoEndpoints | Http::Sessions => Ok(()),
                    // SH-41
                    Http::PostOnly => Err(Refusal::MethodOfRevision),
                }
            }
            Version::Known(_) | Version::Unknown(_) => Err(Refusal::Version),
        }
    }

    fn has_streams(&self) -> bool {
        self.sessions && self.serves_legacy()
    }

    fn serves_legacy(&self) -> bool {
        self.revisions.newest_legacy().is_some()
    }
}

impl Post<'_> {
    /// Returns true if the version of the head is one of the modern era, so that the body has to be
    /// of it as well.
    pub fn is_modern(&self) -> bool {
        self.version.is_modern()
    }
}

impl<'h> Version<'h> {
    fn read(text: &'h [u8]) -> Self {
        core::str::from_utf8(text)
            .ok()
            .and_then(Revision::parse)
            .map_or(Self::Unknown(text), Self::Known)
    }

    fn is_modern(self) -> bool {
        matches!(self, Self::Known(revision) if revision.is_modern())
    }
}

impl core::fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Post")
            .field("version", &self.version)
            .field("session", &self.session.is_some())
            .field("method", &self.method.map(<[u8]>::escape_ascii))
            .field("name", &self.name.is_some())
            .finish()
    }
}

fn post_fields<'h>(head: &'h (impl Head + ?Sized)) -> Result<Post<'h>, Refusal> {
    Ok(Post {
        version: version(head)?,
        session: single(head, "mcp-session-id", "Mcp-Session-Id")?,
        method: single(head, "mcp-method", "Mcp-Method")?,
        name: single(head, "mcp-name", "Mcp-Name")?,
    })
}

fn version<'h>(head: &'h (impl Head + ?Sized)) -> Result<Version<'h>, Refusal> {
    let value = single(head, VERSION, "MCP-Protocol-Version")?;
    Ok(value.map_or(Version::Absent, Version::read))
}

fn session<'h>(head: &'h (impl Head + ?Sized)) -> Result<SessionId<'h>, Refusal> {
    let bytes = single(head, "mcp-session-id", "Mcp-Session-Id")?.ok_or(Refusal::SessionMissing)?;
    SessionId::new(bytes).ok_or(Refusal::SessionMalformed)
}

fn single<'h>(
    head: &'h (impl Head + ?Sized),
    name: &str,
    spelled: &'static str,
) -> Result<Option<&'h [u8]>, Refusal> {
    match head.field(name) {
        Field::None => Ok(None),
        Field::One(value) => Ok(Some(value)),
        Field::Many => {
            let mut modern = false;
            head.values(VERSION, &mut |value| {
                modern |= Version::read(trim(value)).is_modern();
            });
            Err(Refusal::Doubled {
                field: spelled,
                modern,
            })
        }
    }
}

const VERSION: &str = "mcp-protocol-version";

/// Returns true if a browser asks before it sends the request of a page (CORS).
pub fn is_preflight(head: &(impl Head + ?Sized)) -> bool {
    head.method() == "OPTIONS" && head.field("origin") != Field::None
}
