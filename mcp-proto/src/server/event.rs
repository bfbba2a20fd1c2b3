//! Events of a server for its application.

use super::context::RequestContext;
use super::reply::Initialize;
use crate::json::{Number, Object, Raw, Str};
use crate::rpc::{ErrorObject, Method, Reason};
use crate::token::{SentToken, Token};

/// Something for the application; it borrows from the message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'b> {
    /// `initialize` was answered: who the client of the legacy session is, and what it can do.
    /// Requests follow; the server itself may speak from [`Initialized`](Self::Initialized) on.
    Handshake(Initialize<'b>),
    /// The legacy session is open: the server may now ask and notify.
    Initialized,
    /// A request to be answered by [`respond`](super::Server::respond), now or later.
    Request {
        /// Names it until it ends.
        token: Token,
        /// The method. It is in the request's revision, and its capability is declared.
        method: Method<'b>,
        /// The parameters; the empty object if it has none.
        params: Object<'b>,
        /// The values that the protocol layer read of the parameters already.
        context: RequestContext<'b>,
    },
    /// A request has not been answered for [`ServerConfig::overdue_after`](super::ServerConfig::overdue_after).
    /// It stays open until it is answered or cancelled; reported once for each request.
    Overdue {
        /// The request.
        token: Token,
    },
    /// A request ended without an answer: the client cancelled it, or is gone. Stop the work
    /// (CN-04); the token is stale from now on.
    Cancelled {
        /// The request.
        token: Token,
        /// The reason that the client gave, for a log (CN-08).
        reason: Option<Str<'b>>,
    },
    /// A `subscriptions/listen` was accepted and is acknowledged next; from then on
    /// [`list_changed`](super::Server::list_changed) and
    /// [`resource_updated`](super::Server::resource_updated) reach it by themselves. It ends by
    /// [`Cancelled`](Self::Cancelled), or by [`end_listen`](super::Server::end_listen).
    ///
    /// One that is `held` is acknowledged by [`acknowledge`](super::Server::acknowledge), or
    /// refused by [`respond`](super::Server::respond) with an error. Until then nothing of it is
    /// written, and changes wait.
    Listening {
        /// Names it until it ends.
        token: Token,
        /// The filter of the notifications that the client asks for.
        filter: Object<'b>,
        /// True if the filter has a key of [`ServerConfig::filters`](super::ServerConfig::filters).
        held: bool,
        /// The values that the protocol layer read of the parameters already.
        context: RequestContext<'b>,
    },
    /// A notification of the client that is not the protocol layer's own business.
    Notification {
        /// The method.
        method: Method<'b>,
        /// Its parameters; the empty object if it has none.
        params: Object<'b>,
    },
    /// The client tells how far a question of ours is.
    Progress {
        /// The question.
        token: SentToken,
        /// The caller's number.
        cookie: u64,
        /// More than the time before.
        progress: Number<'b>,
        /// The value of `progress` at the end.
        total: Option<Number<'b>>,
        /// A message for people.
        message: Option<Str<'b>>,
    },
    /// A question of ours ended; each does so exactly once.
    Answer {
        /// The question; stale from now on.
        token: SentToken,
        /// The caller's number.
        cookie: u64,
        /// The outcome of the question.
        answer: Answer<'b>,
    },
    /// The client did not answer a regular ping in time (LC-22).
    PingMissed {
        /// Misses in a row.
        misses: u32,
        /// The number of misses that closes the connection.
        limit: u32,
    },
    /// The connection is closed. All requests in flight have been reported.
    Closed,
}

/// The outcome of a question of ours.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Answer<'b> {
    /// With a result, a JSON object.
    Result(Raw<'b>),
    /// With an error of the client.
    Error(ErrorObject<'b>),
    /// With a message that is no answer that we accept.
    Unusable(Reason),
    /// It timed out; the client was notified.
    Timeout,
    /// The request that it was asked for is over.
    Cancelled,
    /// The connection is over.
    Closed,
}
