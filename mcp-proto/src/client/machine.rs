//! The client as a `Machine` for its driver.

use super::reply::reserve;
use super::{Client, CloseReason, Event, Phase, Reply, Storage, Unusable};
use crate::action::{Action, BufferFull, Channel, IgnoreReason, Transmit};
use crate::json::Writer;
use crate::limits::Limits;
use crate::machine::Machine;
use crate::ping::Missed;
use crate::revision::Revision;
use crate::rpc::{Incoming, Message, Method, envelope};
use crate::source::Pipe;
use crate::time::Instant;
use crate::token::Token;

impl<S: Storage> Machine for Client<'_, S> {
    type Origin<'h> = Pipe;
    type Event<'b> = Event<'b>;
    type Reply<'b> = Reply<'b>;

    fn handle<'b>(
        &mut self,
        now: Instant,
        _: &Pipe,
        incoming: Incoming<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if matches!(self.phase, Phase::Closed) {
            return Action::Ignore(IgnoreReason::Closed);
        }
        let message = match incoming {
            Incoming::Message(message) => message,
            // JR-15, JR-19
            Incoming::BatchStart => {
                let allowed = self.revision.is_some_and(Revision::allows_batches);
                self.questions.batch.start(allowed, Pipe);
                return if allowed {
                    Action::Done
                } else {
                    Action::Event(Event::Unusable(Unusable::Batch))
                };
            }
            Incoming::BatchEnd => {
                let _ = self.questions.batch.end();
                return Action::Done;
            }
        };
        match message {
            message if self.questions.batch.is_refused() => self.skipped(now, message),
            Message::Response(response) => self.answered(now, &response),
            Message::Notification(notification) => self.notification(now, notification),
            Message::Request(request) => self.asked(request),
            Message::Invalid(invalid) => self.garbage(now, invalid),
        }
    }

    fn reply(
        &mut self,
        _now: Instant,
        reply: Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        if reply.machine != self.questions.machine() {
            return Ok(Transmit::pipe(0));
        }
        let written = self.questions.reply(reply.batched, None, out, |out| {
            let mut writer = Writer::new(out);
            reply.said.write(S::ID_ECHO, &mut writer);
            writer.finish()
        })?;
        Ok(Transmit::pipe(written.len))
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }

    fn reserve(&self) -> usize {
        reserve(S::ID_ECHO)
    }

    fn set_max_message(&mut self, len: usize) {
        let limits = &self.config.limits;
        let len = len.min(limits.max_message());
        self.questions.set_max_message(len);
        self.batch.array.set_limit(limits.batch_bytes.min(len));
    }

    fn request_of(event: &Event<'_>) -> Option<Token> {
        match event {
            Event::Question { token, .. } => Some(*token),
            _ => None,
        }
    }

    fn unhandle(&mut self, request: Token) -> bool {
        let key = self.questions.key(request);
        let is_taken_back = key.is_ok_and(|key| self.questions.remove(key));
        if is_taken_back {
            self.questions.uncount_element();
        }
        is_taken_back
    }

    fn next_channel_where(&self, mut has_room: impl FnMut(Channel) -> bool) -> Option<Channel> {
        let pipe = self.has_output().then_some(Channel::PIPE);
        pipe.filter(|pipe| has_room(*pipe))
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if on != Channel::PIPE {
            return Ok(None);
        }
        if let Phase::Opening(opening) = self.phase
            && let Some(transmit) = self.transmit_opening(opening, out)?
        {
            return Ok(Some(transmit));
        }
        if self.initialized_owed {
            return self.transmit_initialized(out).map(Some);
        }
        if self.batch.due {
            let len = self.batch.array.write(out)?;
            self.batch.clear();
            return Ok(Some(Transmit::pipe(len)));
        }
        // None leaves while a batch is gathered: it could name a request that has not left.
        if !self.batch.open
            && let Some(len) = self.calls.write_cancellation(out)?
        {
            return Ok(Some(Transmit::pipe(len)));
        }
        if let Some(key) = self.questions.next_marked(Pipe) {
            return self.transmit_refused(key, out).map(Some);
        }
        if self.questions.batch.ready().is_some() {
            let len = self.questions.batch.write(out)?;
            return Ok(Some(Transmit::pipe(len)));
        }
        Ok(self.calls.sent.write_ping(now, out)?.map(Transmit::pipe))
    }

    // The close comes last, when nothing else is left to be said.
    fn poll_event<'b>(&mut self) -> Option<Event<'b>> {
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

    fn poll_timeout(&self) -> Option<Instant> {
        let opening = match &self.phase {
            Phase::Opening(opening) => opening.next_deadline(),
            _ => None,
        };
        Instant::earliest([opening, self.calls.sent.next_deadline()])
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Phase::Opening(opening) = self.phase {
            self.opening_timeout(now, opening);
        }
        if let Some(missed) = self.calls.sent.take_missed_ping(now) {
            self.miss_untold = true;
            if let Missed::Last(_) = missed {
                self.close(CloseReason::Stale);
            }
        }
        // A person may be what the server waits for: its question is still open.
        let is_asked = !self.questions.table.is_empty();
        self.calls.handle_timeout(now, is_asked);
    }

    fn hang_up(&mut self) {
        self.close(CloseReason::HungUp);
    }
}

impl<S: Storage> Client<'_, S> {
    /// Returns true if a message is waiting to be sent.
    fn has_output(&self) -> bool {
        let opening = matches!(&self.phase, Phase::Opening(opening) if opening.is_owed());
        opening
            || self.initialized_owed
            || self.batch.due
            || (!self.batch.open && self.calls.sent.next_cancelled().is_some())
            || self.questions.next_marked(Pipe).is_some()
            || self.questions.batch.ready().is_some()
            || self.calls.sent.is_ping_due()
    }

    /// LC-06
    fn transmit_initialized(&mut self, out: &mut [u8]) -> Result<Transmit, BufferFull> {
        let mut writer = Writer::new(out);
        envelope::bare_notification(&mut writer, Method::Initialized);
        let len = writer.finish()?;
        self.initialized_owed = false;
        self.calls.let_go();
        Ok(Transmit::pipe(len))
    }
}
