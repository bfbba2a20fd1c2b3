//! Events of a client for its application.

use core::fmt;

use super::Failure;
use crate::json::{Number, Object, Raw, Str};
use crate::revision::{Revision, RevisionSet};
use crate::rpc::{ErrorObject, Invalid, Method, Notification, Request};
use crate::token::{SentToken, Token};

/// Something for the application; it borrows from the bytes of the message that it tells of.
///
/// Each call ends by exactly one [`Answer`](Self::Answer) or [`Failed`](Self::Failed), unless
/// it is cancelled, after which nothing more is said about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'b> {
    /// The server is known: calls may begin. In a legacy session the core's `initialized`
    /// leaves first (LC-06), so drain [`poll_transmit`](crate::Machine::poll_transmit).
    Connected(Connected<'b>),
    /// There will be no connection; [`Closed`](Self::Closed) follows, and the transport is of
    /// no more use.
    ConnectFailed(ConnectError<'b>),
    /// The server answered a call, which is over.
    Answer {
        /// The call.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
        /// The result, an object, or the server's error.
        outcome: Result<Raw<'b>, ErrorObject<'b>>,
    },
    /// A call ended without an answer.
    Failed {
        /// The call.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
        /// The reason.
        failure: Failure,
    },
    /// The server answered a call after all that was cancelled or took too long, with a result of
    /// a type that an extension defines (EX-09): what the result stands for may have to be ended.
    /// A client that has such a type for `tools/call` is also notified of a task of 2025-11-25
    /// (TK-07). Only the answers to the latest of such calls are reported, as many as may be in
    /// flight at a time.
    LateResult {
        /// The result.
        result: Object<'b>,
    },
    /// The server wants input before it answers (MR-09): make all of it, then
    /// [`retry`](super::Client::retry). Only the maximum duration of the call
    /// still counts.
    Input {
        /// The call, whose token stays.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
        /// The questions by key, each an object with `method` and `params`; known methods
        /// that this client declared, nothing else. `None`: keep the state, and retry when
        /// [`Again`](Self::Again) says so.
        requests: Option<Object<'b>>,
        /// A JSON string to send back as it is (MR-11).
        state: Option<Raw<'b>>,
    },
    /// A call has to be encoded and sent [again](super::Client::retry) now: a pause between
    /// two rounds is over, or the server wants another revision (VR-05).
    Again {
        /// The call, whose token stays.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
    },
    /// The server acknowledged a subscription (SB-02).
    Listening {
        /// The `subscriptions/listen` call.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
        /// The notifications that the server will send: compare them with those that were asked for
        /// (SB-05).
        honoured: Object<'b>,
    },
    /// A call is under way.
    Progress {
        /// The call.
        token: SentToken,
        /// The call's own, see [`Call::cookie`](super::Call::cookie).
        cookie: u64,
        /// The progress so far; larger each time (PG-04).
        progress: Number<'b>,
        /// The value of `progress` at the end, if the server knows it.
        total: Option<Number<'b>>,
        /// For a person to read.
        message: Option<Str<'b>>,
    },
    /// A notification of the server, in the order of the wire: `notifications/message`, the
    /// three `list_changed`, `notifications/resources/updated`,
    /// `notifications/elicitation/complete` (ignore it for an id that is not open, EL-12), those
    /// of tasks, and those of [`ClientConfig::methods`](super::ClientConfig::methods).
    Notification {
        /// In 2026-07-28, the listen call that it belongs to (ST-14), and its cookie; `None` for
        /// one of the configuration's methods that names no listen.
        subscription: Option<(SentToken, u64)>,
        /// The notification.
        notification: Notification<'b>,
    },
    /// A legacy server asks; [`respond`](super::Client::respond) to the token.
    Question {
        /// Names the question.
        token: Token,
        /// `sampling/createMessage`, `elicitation/create`, `roots/list`, or a question about a
        /// task: only what this client declared; or one of
        /// [`ClientConfig::methods`](super::ClientConfig::methods).
        method: Method<'b>,
        /// Its parameters; the empty object if it has none.
        params: Object<'b>,
    },
    /// A question needs no answer any more; its token is stale.
    QuestionCancelled {
        /// The question.
        token: Token,
        /// The reason that the server gave.
        reason: Option<Str<'b>>,
    },
    /// The server did not answer a regular ping in time (LC-22).
    PingMissed {
        /// Misses in a row.
        misses: u32,
        /// The number of misses that closes the connection.
        limit: u32,
    },
    /// The server sent what a client has no use for; nothing is answered (JR-32, ST-22).
    Unusable(Unusable<'b>),
    /// The connection is over, and every call before this event.
    Closed(CloseReason),
}

/// The server that answered, its capabilities, and the revision of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Connected<'b> {
    /// The revision that rules from now on (LC-16).
    pub revision: Revision,
    /// An `Implementation`; it names the server and decides nothing (VR-09).
    pub server: Option<Object<'b>>,
    /// `ServerCapabilities`; `None` if the server told only its era.
    pub capabilities: Option<Object<'b>>,
    /// The server's instructions for a model.
    pub instructions: Option<Str<'b>>,
}

/// Reasons for which no connection was opened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ConnectError<'b> {
    /// No revision suits both sides.
    Revision {
        /// The server's offer: one version, or a list of them.
        offered: Raw<'b>,
        /// The revisions that this client accepts.
        accepted: RevisionSet,
    },
    /// The server refused.
    Refused(ErrorObject<'b>),
    /// The answer is not what the method returns, or no message at all.
    Answer,
    /// No answer in time.
    Timeout,
    /// The transport ended first. If nothing was heard yet, the server may be a legacy one that
    /// exits on an unknown first message: start it once more with [`Negotiation::Handshake`].
    ///
    /// [`Negotiation::Handshake`]: super::Negotiation::Handshake
    Closed,
    /// The configuration accepts no revision at all.
    NoRevision,
    /// The message that opens the connection is longer than the output may ever be
    /// ([`Limits::output`](crate::Limits::output), or what the outbox can hold).
    TooLarge,
    /// Over HTTP: there is no answer, but a refusal by status, or nothing at all.
    Failed(Failure),
}

/// Messages that a client has no use for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Unusable<'b> {
    /// No message.
    Invalid(Invalid<'b>),
    /// The start of an array in a revision without batches; its elements are skipped (JR-19).
    Batch,
    /// A request of a modern server, which must not make any (ST-13).
    Request(Request<'b>),
    /// An error that names no request: something that we sent was unreadable (JR-10).
    Error(ErrorObject<'b>),
}

/// Reasons for which a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The transport ended.
    HungUp,
    /// The server missed the last of its pings: hang up.
    Stale,
    /// See the [`ConnectError`] before it: hang up.
    NotConnected,
}

/// For a log line or a person: names what was offered and what is accepted.
impl fmt::Display for ConnectError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision { offered, accepted } => write!(
                f,
                "no common revision: the server offers {}, this client accepts {accepted}",
                offered.as_str(),
            ),
            Self::Refused(error) => write!(
                f,
                "the server refused: {} (code {})",
                error.message, error.code
            ),
            Self::Answer => f.write_str("the server's answer cannot be used"),
            Self::Timeout => f.write_str("the server did not answer in time"),
            Self::Closed => f.write_str("the connection ended before the server answered"),
            Self::NoRevision => f.write_str("this client accepts no revision"),
            Self::TooLarge => f.write_str("the first message is longer than the output may be"),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError<'_> {}
