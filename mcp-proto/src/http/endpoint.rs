//! Accepts or refuses requests by their heads.

use super::access::{Access, is_host};
use super::fields::RequestFields;
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
/// #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
/// #         each("host", self.0.as_bytes());
/// #         each("content-type", b"application/json");
/// #         each("mcp-protocol-version", b"2026-07-28");
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
        let fields = RequestFields::read(head);
        self.admit_fields(head, &fields)?;
        match head.method() {
            "POST" => self.post(head, &fields).map(Opening::Post),
            "GET" if self.has_streams() => self.get(head, &fields).map(Opening::Get),
            "DELETE" if self.has_streams() => {
                self.legacy_version(head, &fields)?;
                session(head, &fields).map(Opening::Delete)
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
        self.admit_fields(head, &RequestFields::read(head))
    }

    fn admit_fields(
        &self,
        head: &(impl Head + ?Sized),
        fields: &RequestFields<'_>,
    ) -> Result<(), Refusal> {
        if self.path.is_some_and(|path| path != head.path()) {
            return Err(Refusal::Path);
        }
        match fields.transfer_encoding {
            Field::None => {}
            Field::One(coding) if coding.eq_ignore_ascii_case(b"chunked") => {
                if fields.content_length != Field::None {
                    return Err(Refusal::TwoLengths);
                }
            }
            _ => return Err(Refusal::TransferEncoding),
        }
        match fields.host {
            Field::One(host) if !is_host(host) => return Err(Refusal::HostMalformed),
            Field::One(host) if self.access.allows_host(host) => {}
            // Without a host there is nothing to check, and where every host is allowed there is
            // no need to.
            Field::None if !head.requires_host() && self.access.hosts.is_none() => {}
            Field::None if !head.requires_host() => return Err(Refusal::Host),
            Field::One(_) => return Err(Refusal::Host),
            Field::None | Field::Many => return Err(Refusal::HostMalformed),
        }
        match fields.origin {
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

    fn post<'h>(
        &self,
        head: &(impl Head + ?Sized),
        fields: &RequestFields<'h>,
    ) -> Result<Post<'h>, Refusal> {
        match fields.content_type {
            Field::One(kind) if is(kind, JSON) => {}
            _ => return Err(Refusal::ContentType),
        }
        // As the specification writes it.
        let is_usual = fields.accept == Field::One(b"application/json, text/event-stream");
        if !(is_usual || accepts(head, JSON) && accepts(head, EVENT_STREAM)) {
            return Err(Refusal::Accept);
        }
        post_fields(head, fields).map_err(|refusal| match refusal {
            // There is no other era.
            Refusal::Doubled { field, .. } if !self.revisions.has_legacy() => Refusal::Doubled {
                field,
                modern: true,
            },
            refusal => refusal,
        })
    }

    fn get<'h>(
        &self,
        head: &(impl Head + ?Sized),
        fields: &RequestFields<'h>,
    ) -> Result<Get<'h>, Refusal> {
        self.legacy_version(head, fields)?;
        if !accepts(head, EVENT_STREAM) {
            return Err(Refusal::Accept);
        }
        Ok(Get {
            session: session(head, fields)?,
            last_event_id: single(head, fields.last_event_id, "Last-Event-ID")?,
        })
    }

    /// A GET or a DELETE has no body that could say more.
    fn legacy_version(
        &self,
        head: &(impl Head + ?Sized),
        fields: &RequestFields<'_>,
    ) -> Result<(), Refusal> {
        match version(head, fields)? {
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
        self.sessions && self.revisions.has_legacy()
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
        Revision::from_bytes(text).map_or(Self::Unknown(text), Self::Known)
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

fn post_fields<'h>(
    head: &(impl Head + ?Sized),
    fields: &RequestFields<'h>,
) -> Result<Post<'h>, Refusal> {
    Ok(Post {
        version: version(head, fields)?,
        session: single(head, fields.session, "Mcp-Session-Id")?,
        method: single(head, fields.method, "Mcp-Method")?,
        name: single(head, fields.name, "Mcp-Name")?,
    })
}

fn version<'h>(
    head: &(impl Head + ?Sized),
    fields: &RequestFields<'h>,
) -> Result<Version<'h>, Refusal> {
    let value = single(head, fields.version, "MCP-Protocol-Version")?;
    Ok(value.map_or(Version::Absent, Version::read))
}

fn session<'h>(
    head: &(impl Head + ?Sized),
    fields: &RequestFields<'h>,
) -> Result<SessionId<'h>, Refusal> {
    let bytes = single(head, fields.session, "Mcp-Session-Id")?.ok_or(Refusal::SessionMissing)?;
    SessionId::new(bytes).ok_or(Refusal::SessionMalformed)
}

fn single<'h>(
    head: &(impl Head + ?Sized),
    field: Field<'h>,
    spelled: &'static str,
) -> Result<Option<&'h [u8]>, Refusal> {
    match field {
        Field::None => Ok(None),
        Field::One(value) => Ok(Some(value)),
        Field::Many => {
            let mut modern = false;
            head.values("mcp-protocol-version", &mut |value| {
                modern |= Version::read(trim(value)).is_modern();
            });
            Err(Refusal::Doubled {
                field: spelled,
                modern,
            })
        }
    }
}

/// Returns true if a browser asks before it sends the request of a page (CORS).
pub fn is_preflight(head: &(impl Head + ?Sized)) -> bool {
    head.method() == "OPTIONS" && head.field("origin") != Field::None
}
