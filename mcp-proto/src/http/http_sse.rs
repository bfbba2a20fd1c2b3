//! The two endpoints of 2024-11-05.

use super::endpoint::{Endpoint, is_preflight};
use super::head::{Field, Head};
use super::media::{EVENT_STREAM, JSON, accepts, is};
use super::refusal::Refusal;
#[cfg(feature = "alloc")]
use crate::rpc::{Incoming, Message, OwnedMessages, Reason};

/// One of the two endpoints of 2024-11-05 (HS-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpSseEndpoint {
    /// A GET opens an event stream, and with it a session.
    Stream,
    /// A POST brings messages for a session, whose answers leave on its stream.
    Messages,
}

/// A request to one of the two endpoints of 2024-11-05 whose head was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpSseOpening {
    /// A GET of the stream, or a POST of messages.
    Request,
    /// A browser asks whether a page of an allowed origin may send a request (CORS).
    Preflight,
}

impl HttpSseEndpoint {
    /// The HTTP method of the endpoint, for `Allow` and for CORS.
    pub const fn methods(self) -> &'static str {
        match self {
            Self::Stream => "GET",
            Self::Messages => "POST",
        }
    }

    /// Checks the body of a POST. A body that is not JSON is refused by the response, because an answer on the event
    /// stream could not name its request.
    ///
    /// # Errors
    /// [`Refusal::BodyNotJson`].
    #[cfg(feature = "alloc")]
    pub fn check_body<B: AsRef<[u8]>>(body: &OwnedMessages<B>) -> Result<(), Refusal> {
        match body.messages().next() {
            Some(Incoming::Message(Message::Invalid(invalid)))
                if matches!(invalid.reason, Reason::Json(_)) =>
            {
                Err(Refusal::BodyNotJson)
            }
            _ => Ok(()),
        }
    }
}

impl<T: AsRef<str>> Endpoint<'_, T> {
    /// Judges the head of a request to one of the two endpoints of 2024-11-05, as [`open`](Self::open) does for
    /// the endpoint of later revisions.
    ///
    /// ```
    /// use mcp_proto::http::{Endpoint, Head, HttpSseEndpoint, HttpSseOpening, Refusal};
    ///
    /// /// A GET of a program.
    /// struct Get;
    ///
    /// impl Head for Get {
    ///     fn method(&self) -> &str { "GET" }
    ///     fn path(&self) -> &str { "/sse" }
    ///     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
    ///         each("host", b"localhost");
    ///         each("accept", b"text/event-stream");
    ///     }
    /// }
    ///
    /// // Each of the two has a path of its own, so a router has compared it.
    /// let endpoint = Endpoint { path: None, ..Endpoint::default() };
    /// let opened = endpoint.open_http_sse(HttpSseEndpoint::Stream, &Get);
    /// assert_eq!(opened, Ok(HttpSseOpening::Request));
    /// let opened = endpoint.open_http_sse(HttpSseEndpoint::Messages, &Get);
    /// assert_eq!(opened, Err(Refusal::Method));
    /// ```
    ///
    /// # Errors
    /// See [`Refusal`], in the order of its checks: those of [`admit`](Self::admit), HTTP method, media types.
    pub fn open_http_sse(
        &self,
        at: HttpSseEndpoint,
        head: &(impl Head + ?Sized),
    ) -> Result<HttpSseOpening, Refusal> {
        self.admit(head)?;
        if is_preflight(head) {
            return Ok(HttpSseOpening::Preflight);
        }
        if head.method() != at.methods() {
            return Err(Refusal::Method);
        }
        match at {
            HttpSseEndpoint::Stream if !accepts(head, EVENT_STREAM) => Err(Refusal::Accept),
            HttpSseEndpoint::Stream => Ok(HttpSseOpening::Request),
            HttpSseEndpoint::Messages => match head.field("content-type") {
                Field::One(kind) if is(kind, JSON) => Ok(HttpSseOpening::Request),
                _ => Err(Refusal::ContentType),
            },
        }
    }
}
