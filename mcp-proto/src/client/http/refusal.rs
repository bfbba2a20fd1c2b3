//! Responses other than success.

use alloc::vec::Vec;

use super::error_body::{error_of, write_to_all};
use super::exchange::{Exchange, Kind};
use super::origin::Origin;
use super::reply::ExchangeOutcome;
use super::retry::is_transient;
use crate::client::Failure;
use crate::client::versions::is_modern;
use crate::json::MAX_DEPTH;
use crate::revision::Revision;
use crate::rpc::{Id, Message};
use crate::time::Instant;

impl Exchange {
    /// Takes a refusal and as much of its body as was read, and appends the message for the
    /// machine to `line`. `jitter` is any number, another each time.
    pub fn refused(
        &mut self,
        origin: &mut Origin,
        now: Instant,
        status: u16,
        body: &[u8],
        line: &mut Vec<u8>,
        jitter: u32,
    ) -> ExchangeOutcome {
        if self.epoch != origin.epoch {
            return self.outlived();
        }
        let in_session = self.session.is_some() && !self.is_post_only();
        match self.kind {
            Kind::Told | Kind::Delete => return ExchangeOutcome::Done,
            Kind::ProbeHttpSse => return ExchangeOutcome::Refuse(status),
            // A stream that the server does not offer was not lost (SC-07).
            Kind::Listen if status == 404 && in_session && self.opened => {}
            Kind::Listen if is_overloaded(status) || self.opened && is_transient(status) => {
                return self.broken(origin, now, jitter);
            }
            // Events that are not kept any more (SH-53) are lost; those to come need not be.
            Kind::Listen if status == 400 && self.has_position() => {
                self.forget_position();
                return self.broken(origin, now, jitter);
            }
            // The refusal is about the credentials, not about the stream.
            Kind::Listen if matches!(status, 401 | 403) => return ExchangeOutcome::Authorize,
            // 405 above all: the server has no such stream.
            Kind::Listen => return ExchangeOutcome::Done,
            Kind::Discover | Kind::Initialize | Kind::Request { .. } => {}
        }
        // SC-10, whatever the body says.
        if status == 404 && in_session && self.kind != Kind::Initialize {
            return if origin.lose(self.epoch) {
                ExchangeOutcome::Lost
            } else {
                self.outlived()
            };
        }
        if self.resuming {
            // The missed events are no longer available.
            return match is_transient(status) {
                true => self.broken(origin, now, jitter),
                false => ExchangeOutcome::Fail(Failure::Broken),
            };
        }
        if self.awaited.is_empty() {
            return ExchangeOutcome::Done;
        }
        let message = Message::parse(body, MAX_DEPTH);
        let is_own = |of: Id<'_>| of.to_u64().is_some_and(|id| self.awaited.contains(id));
        let named = error_of(message).filter(|(of, _)| of.is_none_or(is_own));
        let anonymous = named.is_some_and(|(of, _)| of.is_none());
        let error = named.map(|(_, error)| error);
        match (self.kind, error) {
            // VR-26: about credentials, whatever the body says.
            (Kind::Discover | Kind::Initialize, _) if matches!(status, 401 | 403) => {
                ExchangeOutcome::Fail(Failure::Status(status))
            }
            // VR-31: failures, and never evidence of an era.
            (Kind::Discover | Kind::Initialize, None) if !tells_era(status) => {
                ExchangeOutcome::Fail(Failure::Status(status))
            }
            (Kind::Discover, Some(_)) if status >= 500 => {
                ExchangeOutcome::Fail(Failure::Status(status))
            }
            (Kind::Initialize, error)
                if matches!(status, 400 | 404 | 405)
                    && error.is_none_or(|error| anonymous && !is_modern(error)) =>
            {
                if let Some(error) = error {
                    write_to_all(&self.awaited, &error, line);
                }
                ExchangeOutcome::ProbeHttpSse(status)
            }
            (kind, Some(error)) => {
                write_to_all(&core::mem::take(&mut self.awaited), &error, line);
                let request = matches!(kind, Kind::Request { .. });
                match request && self.mirrors(origin) && is_mismatch(status, error.code) {
                    true => ExchangeOutcome::Mismatched,
                    false => ExchangeOutcome::Deliver,
                }
            }
            (Kind::Discover, None) => ExchangeOutcome::Refuse(status),
            (_, None) => ExchangeOutcome::Fail(Failure::Status(status)),
        }
    }
}

/// Returns true if the server found that head and body differ. A server that speaks the transports
/// draft reports this by the code of the draft, whatever the revision; with any other status that
/// code means nothing (DF-03).
fn is_mismatch(status: u16, error: i64) -> bool {
    let says_so = |revision: Revision| revision.header_mismatch_code() == Some(error);
    status == 400 && Revision::ALL.into_iter().any(says_so)
}

/// Returns true if a refusal with this status can depend on the era of the server: not if any
/// request would have been refused in this way.
const fn tells_era(status: u16) -> bool {
    matches!(status, 400..500) && !matches!(status, 401 | 403 | 407 | 408 | 413 | 425 | 429 | 431)
}

/// Returns true if the status is a statement of the server, or of a proxy in front of it, about the
/// moment and not about the request.
const fn is_overloaded(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504)
}
