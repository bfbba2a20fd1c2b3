//! The head of a response, and its consequences.

use core::fmt;

use crate::client::Failure;
use crate::time::Instant;

/// The HTTP method of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// With the message as its body.
    Post,
    /// Without a body, for a stream.
    Get,
    /// Without a body.
    Delete,
}

impl HttpMethod {
    /// The method of HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Delete => "DELETE",
        }
    }
}

/// The fields of a reply's head that matter. `Debug` does not show the session.
#[derive(Clone, Copy)]
pub struct ReplyHead<'h> {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<&'h [u8]>,
    /// `Mcp-Session-Id`.
    pub session: Option<&'h [u8]>,
    /// `Retry-After`.
    pub retry_after: Option<&'h [u8]>,
    /// `Date`: what a moment in `Retry-After` is compared with.
    pub date: Option<&'h [u8]>,
}

impl ReplyHead<'_> {
    /// A head that says nothing but its status.
    pub const fn new(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            session: None,
            retry_after: None,
            date: None,
        }
    }
}

impl fmt::Debug for ReplyHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyHead")
            .field("status", &self.status)
            .field("content_type", &self.content_type.map(<[u8]>::escape_ascii))
            .field("session", &self.session.is_some())
            .finish_non_exhaustive()
    }
}

/// The form of a reply's body, by which it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing that matters: see [`Exchange::nothing`](super::Exchange::nothing).
    Nothing,
    /// One message, or an array of them: hand all of it to [`Exchange::answer`](super::Exchange::answer).
    Json,
    /// An event stream: hand each event to [`Exchange::event`](super::Exchange::event), and then tell its end.
    Events,
    /// A refusal: hand what there is of it, 64 KiB are plenty, to [`Exchange::refused`](super::Exchange::refused).
    Refusal,
}

/// The next step that a driver must take for an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a call whose exchange ended would wait forever"]
pub enum ExchangeOutcome {
    /// It is over, and there is nothing to tell.
    Done,
    /// It is over, and messages were received or written for the machine. Requests that are still
    /// [awaited](super::Exchange::ids) have no answer: tell [`Client::fail`](crate::client::Client::fail), with
    /// [`Failure::NoAnswer`], when the machine has taken those messages.
    Deliver,
    /// The exchange is over, a message was written for the machine, and the server reports that the
    /// head did not repeat values of the body: the known list of its tools is out of date (XH-17).
    Mismatched,
    /// Tell [`Client::refuse`](crate::client::Client::refuse).
    Refuse(u16),
    /// Tell [`Client::fail`](crate::client::Client::fail), for each request that is still
    /// [awaited](super::Exchange::ids).
    Fail(Failure),
    /// The session is gone: let go of every exchange of an earlier [epoch](super::Origin::epoch), tell
    /// [`Client::fail`](crate::client::Client::fail), with [`Failure::Broken`], for each request of those that are
    /// [begun](super::Exchange::is_begun), this one included, and then
    /// [`Client::lose_session`](crate::client::Client::lose_session).
    Lost,
    /// The handshake was refused as by a server of 2024-11-05: see what [`Origin::probe_http_sse`](super::Origin::probe_http_sse) finds,
    /// and if that is no such server, hand the error that was written to the machine, or call
    /// [`Client::refuse`](crate::client::Client::refuse) if nothing was written.
    ProbeHttpSse(u16),
    /// Send the exchange once more at this time: its [fields](super::Exchange::fields) are others now.
    Resume(Instant),
    /// The server demands other credentials for its stream. Send the exchange once more when the
    /// application has set some.
    Authorize,
    /// The one stream that all answers come on is gone: hang up.
    HangUp,
}
