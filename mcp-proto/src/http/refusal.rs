//! Refusals of requests before a machine gets a message of them.

use core::fmt;

use crate::action::BufferFull;
use crate::json::Writer;
#[cfg(feature = "alloc")]
use crate::json::append;
use crate::rpc::{code, envelope};

/// The refusal of a request of which no machine gets a message.
///
/// [`status`](Self::status), [`code`](Self::code) and the text are one table.
///
/// ```
/// use mcp_proto::http::Refusal;
///
/// let mut body = [0; 128];
/// let len = Refusal::ContentType.write(&mut body)?;
/// assert_eq!(Refusal::ContentType.status(), 415);
/// assert!(body[..len].starts_with(b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"));
/// # Ok::<(), mcp_proto::BufferFull>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is nothing under this path.
    Path,
    /// `Host` is missing, occurs twice, or is not a host with an optional port (RFC 9112,
    /// section 3.2).
    HostMalformed,
    /// `Host` is not one of the hosts that this server answers to.
    Host,
    /// `Origin` is not allowed here (SH-03, SH-04).
    Origin,
    /// `Transfer-Encoding` is something other than `chunked`, once (RFC 9112, section 6.1). The
    /// end of the body is uncertain, so the connection must be closed after the answer.
    TransferEncoding,
    /// `Transfer-Encoding` and `Content-Length` state two ends of the body (RFC 9112, section 6.3). The connection
    /// must be closed after the answer.
    TwoLengths,
    /// The endpoint does not have this HTTP method; an answer names those it has in `Allow`.
    Method,
    /// The request names a revision whose only HTTP method is POST, which an answer names in
    /// `Allow` (SH-41).
    MethodOfRevision,
    /// `Content-Type` is not `application/json` (SH-45).
    ContentType,
    /// `Accept` leaves out a type that the answer may have (SH-45).
    Accept,
    /// A field that can have one value comes more than once.
    Doubled {
        /// Its name.
        field: &'static str,
        /// True if the head names a revision of the modern era, whose code this is.
        modern: bool,
    },
    /// `MCP-Protocol-Version` names no revision that this server has (SH-33).
    Version,
    /// The session id is missing (SH-29).
    SessionMissing,
    /// The session id is malformed (SH-28).
    SessionMalformed,
    /// `Last-Event-ID` is not from this session, or its stream is forgotten; never a 404, which
    /// would end the session (SC-10).
    EventUnknown,
    /// The events behind `Last-Event-ID` are not kept any more.
    EventGone,
    /// The stream of `Last-Event-ID` has ended, and that event was its last. There is no event
    /// stream to answer with, so the status is the other one that a GET can have (SH-20). An
    /// empty stream would have clients resume it again and again.
    StreamEnded,
    /// The body is an array of responses and of something else (JR-55).
    MixedArray,
    /// The session does not exist, or belongs to another principal (SH-30).
    SessionUnknown,
    /// The body is longer than this many bytes.
    BodyTooLong(usize),
    /// The body did not arrive in time.
    BodyLate,
    /// The connection broke within the body, or its framing was wrong.
    BodyUnreadable,
    /// The body is no JSON, and nothing else can say so: the endpoints of 2024-11-05 answer on a stream.
    BodyNotJson,
    /// The request met a limit of the server, or the server is about to end. The client may try again later; the text
    /// says so if the request may have run.
    Unavailable(&'static str),
}

impl Refusal {
    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Self::Path | Self::SessionUnknown => 404,
            Self::Host | Self::Origin => 403,
            Self::TransferEncoding => 501,
            Self::Method | Self::StreamEnded | Self::MethodOfRevision => 405,
            Self::ContentType => 415,
            Self::Accept => 406,
            Self::BodyTooLong(_) => 413,
            Self::BodyLate => 408,
            Self::Unavailable(_) => UNAVAILABLE,
            Self::HostMalformed
            | Self::TwoLengths
            | Self::Doubled { .. }
            | Self::Version
            | Self::SessionMissing
            | Self::SessionMalformed
            | Self::EventUnknown
            | Self::EventGone
            | Self::MixedArray
            | Self::BodyUnreadable
            | Self::BodyNotJson => 400,
        }
    }

    /// The code of the JSON-RPC error in the body.
    pub const fn code(self) -> i64 {
        match self {
            Self::Doubled { modern: true, .. } => code::HEADER_MISMATCH,
            Self::BodyUnreadable | Self::BodyNotJson => code::PARSE_ERROR,
            Self::Unavailable(_) => code::INTERNAL_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }

    /// Writes the body, a JSON-RPC error without id.
    ///
    /// # Errors
    /// [`BufferFull`]; 256 bytes are always enough, but for the text of [`Unavailable`](Self::Unavailable).
    pub fn write(self, out: &mut [u8]) -> Result<usize, BufferFull> {
        let mut w = Writer::new(out);
        self.write_to(&mut w);
        w.finish()
    }

    fn write_to(self, w: &mut Writer<'_>) {
        let (field, sentence) = self.pieces();
        w.literal(envelope::OPEN);
        envelope::error_with(w, self.code(), |w| match self {
            // Text of the application.
            Self::Unavailable(reason) => w.string(reason),
            _ => {
                w.literal("\"");
                w.literal(field);
                w.literal(sentence);
                if let Self::BodyTooLong(limit) = self {
                    w.unsigned(limit as u64);
                    w.literal(BYTES);
                }
                w.literal("\"");
            }
        });
    }

    /// The body, as [`write`](Self::write) writes it.
    #[cfg(feature = "alloc")]
    pub fn to_body(self) -> alloc::vec::Vec<u8> {
        let mut body = alloc::vec::Vec::new();
        append(&mut body, |w| self.write_to(w));
        body
    }

    /// The field that it is about, and what is to be said: one short sentence (JR-13).
    const fn pieces(self) -> (&'static str, &'static str) {
        match self {
            Self::Path => ("", "nothing is served here"),
            Self::HostMalformed => (
                "Host",
                " must occur once and be a host with an optional port",
            ),
            Self::Host => ("Host", " is not one of the hosts that this server allows"),
            Self::Origin => (
                "Origin",
                " is not one of the origins that this server allows",
            ),
            Self::TransferEncoding => ("Transfer-Encoding", " other than chunked is not supported"),
            Self::TwoLengths => ("Content-Length", " must not come with Transfer-Encoding"),
            Self::Method => ("", "method not allowed"),
            Self::MethodOfRevision => ("", "this revision has no method but POST"),
            Self::ContentType => ("Content-Type", " must be application/json"),
            Self::Accept => (
                "Accept",
                " must list application/json and text/event-stream; for GET the latter",
            ),
            Self::Doubled { field, .. } => (field, " occurs twice"),
            Self::Version => ("MCP-Protocol-Version", " is not supported"),
            Self::SessionMissing => ("Mcp-Session-Id", " is missing"),
            Self::SessionMalformed => ("Mcp-Session-Id", " is malformed"),
            Self::EventUnknown => ("Last-Event-ID", " names no stream that is kept"),
            Self::EventGone => ("Last-Event-ID", " is followed by events that are not kept"),
            Self::StreamEnded => (
                "Last-Event-ID",
                " names the last event of a stream that has ended",
            ),
            Self::MixedArray => (
                "",
                "an array may not mix responses with requests or notifications",
            ),
            Self::SessionUnknown => ("", "there is no such session, or no longer"),
            Self::BodyTooLong(_) => ("", "the body is longer than "),
            Self::BodyLate => ("", "the body did not come in time"),
            Self::BodyUnreadable => ("", "the body could not be read"),
            Self::BodyNotJson => ("", "the body is no JSON"),
            Self::Unavailable(reason) => ("", reason),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, sentence) = self.pieces();
        f.write_str(field)?;
        f.write_str(sentence)?;
        match self {
            Self::BodyTooLong(limit) => write!(f, "{limit}{BYTES}"),
            _ => Ok(()),
        }
    }
}

pub(super) const UNAVAILABLE: u16 = 503;

const BYTES: &str = " bytes";

impl core::error::Error for Refusal {}
