//! Effects of time and of the end of a connection.

use super::call::Stage;
use super::{Client, CloseReason, ConnectError, Event, Failure, Phase, Storage};
use crate::ping::Missed;
use crate::sent::Cancellation;
use crate::slots::Key;
use crate::time::Instant;

impl<S: Storage> Client<'_, S> {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let opening = match &self.phase {
            Phase::Opening(opening) => opening.next_deadline(),
            _ => None,
        };
        [opening, self.calls.sent.next_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        if let Phase::Opening(opening) = self.phase {
            self.opening_timeout(now, opening);
        }
        self.poll_ping(now);
        while let Some(token) = self.calls.sent.table.pop_due(now) {
            self.due(now, token);
        }
    }

    fn due(&mut self, now: Instant, token: Key) {
        let Some(stage) = self.calls.get(token).map(|call| call.stage) else {
            return;
        };
        let unsent = Cancellation::NotOwed;
        match stage {
            Stage::Pausing => {
                let ahead = self
                    .calls
                    .get(token)
                    .is_some_and(|call| call.sent.latest > now);
                if ahead {
                    self.calls.ask_again(token);
                } else {
                    self.calls.sent.end(token, unsent, Failure::Timeout);
                }
            }
            // A person may be what the server waits for: its question is still open.
            Stage::Sent
                if !self.questions.table.is_empty() && self.calls.sent.extend(now, token) => {}
            // LC-18: the caller is notified, and so is the server if it has received the request.
            Stage::Sent => {
                let owed = Cancellation::OwedForTimeout;
                self.calls.sent.end(token, owed, Failure::Timeout);
            }
            Stage::Input | Stage::Again | Stage::Held => {
                self.calls.sent.end(token, unsent, Failure::Timeout);
            }
            Stage::Listening => {}
        }
    }

    fn poll_ping(&mut self, now: Instant) {
        let Some(missed) = self.calls.sent.pinger.handle_timeout(now) else {
            return;
        };
        self.miss_untold = true;
        if let Missed::Last(_) = missed {
            self.close(CloseReason::Stale);
        }
    }

    /// Every call ends, every question is void; the events tell.
    pub(super) fn close(&mut self, reason: CloseReason) {
        if matches!(self.phase, Phase::Closed) {
            return;
        }
        if matches!(self.phase, Phase::Opening(_)) && reason == CloseReason::HungUp {
            self.connect_failed = Some(ConnectError::Closed);
        }
        self.phase = Phase::Closed;
        self.calls.sent.pinger.stop();
        self.initialized_owed = false;
        self.closed_untold = Some(reason);
        self.calls
            .sent
            .end_all(Cancellation::NotOwed, Failure::Closed);
        self.questions.end_all();
    }

    /// The close comes last, when nothing else is left to be said.
    pub(super) fn next_event(&mut self) -> Option<Event<'static>> {
        if let Some(error) = self.connect_failed.take() {
            return Some(Event::ConnectFailed(error));
        }
        if core::mem::take(&mut self.miss_untold) {
            return Some(Event::PingMissed {
                misses: self.calls.sent.pinger.missed(),
                limit: self.config.ping.map_or(0, |policy| policy.misses),
            });
        }
        if let Some((key, cookie, why)) = self.calls.sent.next_event() {
            let token = self.calls.sent.token(key);
            return Some(match why {
                Some(failure) => Event::Failed {
                    token,
                    cookie,
                    failure,
                },
                None => Event::Again { token, cookie },
            });
        }
        if let Some(key) = self.questions.next_ended() {
            return Some(Event::QuestionCancelled {
                token: self.questions.token(key),
                reason: None,
            });
        }
        self.closed_untold.take().map(Event::Closed)
    }
}
