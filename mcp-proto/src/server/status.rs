//! The HTTP statuses of what a machine makes of messages. Those of requests that reach no machine are
//! [`Refusal`](crate::http::Refusal)'s.

use super::{Answer, Event, PeerError, Reply};
use crate::action::{Action, IgnoreReason};
use crate::http::ACCEPTED;
use crate::rpc::code;

impl Action<Event<'_>, Reply<'_>> {
    /// The HTTP status of an exchange whose message led to this, if that is all that is said:
    /// 202 for what was taken in, 400 for what could not be (SH-06 to SH-08, SH-47). `None` if
    /// an answer follows on its channel, which has a status of its own
    /// ([`Transmit::status`](crate::Transmit::status)).
    ///
    /// Of an array the first `None` decides; without one the status is 202.
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Reply(_) | Self::Event(Event::Request { .. } | Event::Listening { .. }) => None,
            Self::Event(Event::Answer {
                answer: Answer::Unusable(_),
                ..
            }) => Some(400),
            Self::Event(_) | Self::Done => Some(ACCEPTED),
            Self::Ignore(why) => Some(why.http_status()),
        }
    }
}

impl IgnoreReason {
    /// The HTTP status of an exchange that brought nothing else (SH-06 to SH-08): 202, unless
    /// what it brought makes no sense or comes too late for any session.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Malformed | Self::Garbage => 400,
            Self::Closed => 404,
            _ => ACCEPTED,
        }
    }
}

impl PeerError {
    /// The HTTP status of an exchange that it answers (SH-46); `modern` if the request is of that
    /// era.
    pub const fn status(self, modern: bool) -> u16 {
        match self {
            Self::Invalid(_)
            | Self::Batch
            | Self::ModernInBatch
            | Self::NotInitialized
            | Self::Doubled(_)
            | Self::VersionHeaderMissing
            | Self::HeaderMissing(_)
            | Self::HeaderMismatch(_)
            | Self::Unasked
            | Self::UnsupportedVersion
            | Self::TasksUndeclared
            | Self::ExtensionUndeclared => 400,
            Self::IdTooLong | Self::IdInUse | Self::LogLevel | Self::MissingMeta(_) if modern => {
                400
            }
            Self::UnknownMethod if modern => 404,
            // The request was not accepted, and may be repeated.
            Self::TooManyRequests => 503,
            _ => 200,
        }
    }
}

/// The HTTP status of an exchange that this error answers, where errors have one: some codes have
/// one of their own, all others were accepted (SH-36, SH-46).
pub(super) const fn status_of(code: i64) -> u16 {
    match code {
        code::METHOD_NOT_FOUND => 404,
        code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_VERSION
        | code::PARSE_ERROR
        | code::INVALID_REQUEST => 400,
        code::OVERLOADED => 503,
        code::TOO_MANY_REQUESTS => 429,
        _ => 200,
    }
}
