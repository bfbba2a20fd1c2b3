//! The client as a `Machine` for its driver.

use super::reply::reserve;
use super::{Client, CloseReason, Event, Phase, Reply, Storage, Unusable};
use crate::action::{Action, BufferFull, Channel, IgnoreReason, Transmit};
use crate::json::Writer;
use crate::limits::Limits;
use crate::machine::Machine;
use crate::revision::Revision;
use crate::rpc::{Incoming, Message};
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
                self.questions.start_array(allowed, Pipe);
                return if allowed {
                    Action::Done
                } else {
                    Action::Event(Event::Unusable(Unusable::Batch))
                };
            }
            Incoming::BatchEnd => {
                let _ = self.questions.end_array();
                return Action::Done;
            }
        };
        match message {
            message if self.questions.batch().is_refused() => self.skipped(now, message),
            Message::Response(response) => self.answered(now, response),
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
        let pipe = self.has_transmit().then_some(Channel::PIPE);
        pipe.filter(|pipe| has_room(*pipe))
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if on == Channel::PIPE {
            self.transmit(now, out)
        } else {
            Ok(None)
        }
    }

    fn poll_event<'b>(&mut self) -> Option<Event<'b>> {
        self.next_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_deadline()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.on_timeout(now);
    }

    fn hang_up(&mut self) {
        self.close(CloseReason::HungUp);
    }
}
