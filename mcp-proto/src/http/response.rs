//! The heads of responses, and the status of a POST.

use core::fmt;

use super::head::Head;
use super::head::SessionId;
use super::media::{EVENT_STREAM, JSON};
use super::refusal::{Refusal, UNAVAILABLE};
use crate::rpc::Incoming;

/// The head of a response: the status line and the fields that the protocol asks for.
///
/// The fields that frame the body are the driver's: `Content-Length`, or chunks for [`BodyKind::Events`].
///
/// ```
/// use mcp_proto::http::{BodyKind, ResponseHead};
///
/// /// The head as HTTP/1.1 writes it; `length` is that of the body, unless it is a stream.
/// fn write(head: &ResponseHead<'_>, length: usize, out: &mut Vec<u8>) {
///     out.extend_from_slice(format!("HTTP/1.1 {} \r\n", head.status).as_bytes());
///     head.fields(|name, value| {
///         out.extend_from_slice(name.as_bytes());
///         out.extend_from_slice(b": ");
///         out.extend_from_slice(value.as_bytes());
///         out.extend_from_slice(b"\r\n");
///     });
///     match head.content {
///         BodyKind::Events => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
///         // RFC 9110, section 8.6: a 204 has no such field.
///         _ if head.status == 204 => {}
///         _ => out.extend_from_slice(format!("content-length: {length}\r\n").as_bytes()),
///     }
///     out.extend_from_slice(b"\r\n");
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseHead<'h> {
    /// The status.
    pub status: u16,
    /// The kind of the body.
    pub content: BodyKind,
    /// True if the connection must be closed after the response: the request was not read to its end, so it is
    /// unknown where the next one begins.
    pub close: bool,
    /// The session that the response opens.
    pub session: Option<SessionId<'h>>,
    allow: Option<&'static str>,
}

/// The HTTP status of a POST, gathered from the verdicts on its messages.
///
/// ```
/// use mcp_proto::http::PostStatus;
/// use mcp_proto::rpc::Messages;
///
/// let mut status = PostStatus::default();
/// for message in Messages::new(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 8) {
///     let verdict = Some(202); // as `Action::http_status` has it
///     status.note(&message, verdict);
/// }
/// assert_eq!(status.get(), Some(202));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostStatus {
    /// An answer follows, or was given.
    answered: bool,
    array: bool,
    status: Option<u16>,
}

/// The kind of the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// No body.
    Nothing,
    /// One message.
    Json,
    /// An event stream.
    Events,
}

/// The value of a field of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'h> {
    /// Text of this crate.
    Static(&'static str),
    /// Text that a request, or the caller, has brought.
    Bytes(&'h [u8]),
}

impl<'h> FieldValue<'h> {
    /// The value.
    pub const fn as_bytes(self) -> &'h [u8] {
        match self {
            Self::Static(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl<'h> ResponseHead<'h> {
    /// The head of a response without a body.
    pub const fn of_status(status: u16) -> Self {
        Self {
            status,
            content: BodyKind::Nothing,
            close: false,
            session: None,
            allow: None,
        }
    }

    /// The head of the response to a preflight, and to a DELETE that has ended its session.
    pub const fn no_content() -> Self {
        Self::of_status(204)
    }

    /// The head of the response to messages that were taken in, and want no answer in it (SH-06).
    pub const fn accepted() -> Self {
        Self::of_status(ACCEPTED)
    }

    /// The head of a response with one message.
    pub const fn of_message(status: u16) -> Self {
        Self {
            content: BodyKind::Json,
            ..Self::of_status(status)
        }
    }

    /// The head of an event stream.
    pub const fn of_events() -> Self {
        Self {
            content: BodyKind::Events,
            ..Self::of_status(200)
        }
    }

    /// The head of a refusal, whose body [`Refusal::write`] writes. `methods` are those of the
    /// [endpoint](super::Endpoint::methods).
    pub const fn of_refusal(refusal: Refusal, methods: &'static str) -> Self {
        Self {
            allow: match refusal {
                // RFC 9110, section 15.5.6
                Refusal::Method | Refusal::StreamEnded => Some(methods),
                Refusal::MethodOfRevision => Some("POST"),
                _ => None,
            },
            close: matches!(refusal, Refusal::TransferEncoding | Refusal::TwoLengths),
            ..Self::of_message(refusal.status())
        }
    }

    /// Adds the session that the response opens.
    #[must_use]
    pub const fn opening<'s>(self, session: Option<SessionId<'s>>) -> ResponseHead<'s>
    where
        'h: 's,
    {
        ResponseHead { session, ..self }
    }

    /// Calls `each` with the name, in lower case, and the value of every field.
    pub fn fields(&self, mut each: impl FnMut(&'static str, FieldValue<'h>)) {
        let mut say = |name, value| each(name, FieldValue::Static(value));
        match self.content {
            BodyKind::Nothing => {}
            BodyKind::Json => {
                say("content-type", JSON);
                say("cache-control", "no-store");
            }
            BodyKind::Events => {
                say("content-type", EVENT_STREAM);
                say("cache-control", "no-cache");
                // SH-40: proxies are asked to pass each event on at once.
                say("x-accel-buffering", "no");
            }
        }
        if let Some(allow) = self.allow {
            say("allow", allow);
        }
        // SH-46: a limit of the server was reached, or one of the client.
        match self.status {
            UNAVAILABLE => say("retry-after", "5"),
            TOO_MANY_REQUESTS => say("retry-after", "1"),
            _ => {}
        }
        if self.close {
            say("connection", "close");
        }
        if let Some(session) = self.session {
            each("mcp-session-id", FieldValue::Bytes(session.as_bytes()));
        }
    }
}

impl PostStatus {
    /// Notes the verdict on the next message, an [`Action::http_status`](crate::Action::http_status).
    pub const fn note(&mut self, incoming: &Incoming<'_>, verdict: Option<u16>) {
        self.array |= matches!(incoming, Incoming::BatchStart);
        match verdict {
            Some(_) => self.status = verdict,
            None => self.answered = true,
        }
    }

    /// Returns true if the messages are the elements of an array.
    pub const fn is_array(self) -> bool {
        self.array
    }

    /// The status of a response without a message; `None` if an answer follows. That of an array without answers is 202.
    pub const fn get(self) -> Option<u16> {
        match (self.answered, self.array) {
            (true, _) => None,
            (false, true) => Some(ACCEPTED),
            (false, false) => self.status,
        }
    }
}

/// Calls `each` with the fields that let a page of this origin read a response.
pub fn origin_fields<'h>(origin: &'h [u8], mut each: impl FnMut(&'static str, FieldValue<'h>)) {
    let exposed = FieldValue::Static("Mcp-Session-Id, WWW-Authenticate");
    each("access-control-allow-origin", FieldValue::Bytes(origin));
    each("access-control-expose-headers", exposed);
    each("vary", FieldValue::Static("Origin"));
}

/// Calls `each` with the fields of the answer to a browser that asks before it sends a request: the `methods` of the
/// endpoint are allowed, and every field, `Mcp-Param-*` included. The head is [`ResponseHead::no_content`].
pub fn preflight_fields<'h>(
    head: &'h (impl Head + ?Sized),
    methods: &'static str,
    mut each: impl FnMut(&'static str, FieldValue<'h>),
) {
    each("access-control-allow-methods", FieldValue::Static(methods));
    head.values("access-control-request-headers", &mut |asked| {
        each("access-control-allow-headers", FieldValue::Bytes(asked));
    });
    each("access-control-max-age", FieldValue::Static("7200"));
}

impl fmt::Debug for ResponseHead<'_> {
    /// Without the session id, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("content", &self.content)
            .field("close", &self.close)
            .finish_non_exhaustive()
    }
}

/// The status of messages that were taken in, and want no answer.
pub(crate) const ACCEPTED: u16 = 202;

const TOO_MANY_REQUESTS: u16 = 429;
