//! The client as a `Machine` for its driver.

use super::reply::{Said, reserve};
use super::{Client, CloseReason, Event, Phase, Reply, Storage, Unusable};
use crate::action::{Action, BufferFull, Channel, IgnoreReason, SendError, Transmit};
use crate::batch::Reading;
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
                self.questions.answers.start(allowed);
                return if allowed {
                    Action::Done
                } else {
                    Action::Event(Event::Unusable(Unusable::Batch))
                };
            }
            Incoming::BatchEnd => {
                self.questions.answers.end();
                return Action::Done;
            }
        };
        match message {
            message if self.questions.answers.reading() == Reading::Refused => {
                self.skipped(now, message)
            }
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
        if reply.machine != self.id {
            return Ok(Transmit::pipe(0));
        }
        let write = |out: &mut [u8]| {
            let mut writer = Writer::new(out);
            reply.said.write(S::ID_ECHO, &mut writer);
            Ok(writer.finish()?)
        };
        if reply.batched && self.questions.answers.gather(write).unwrap_or(false) {
            return Ok(Transmit::pipe(0));
        }
        match write(out) {
            Ok(len) => Ok(Transmit::pipe(len)),
            Err(SendError::BufferFull { needed }) if needed > self.max_message => {
                let mut writer = Writer::new(out);
                Said::TooLarge.write(S::ID_ECHO, &mut writer);
                writer.finish().map(Transmit::pipe)
            }
            Err(SendError::BufferFull { needed }) => Err(BufferFull { needed }),
            Err(_) => Ok(Transmit::pipe(0)),
        }
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
        if len != self.max_message {
            self.max_message = len;
            let longest = limits.batch_bytes.min(len);
            self.questions.answers.set_limit(longest);
            self.batch.array.set_limit(longest);
        }
    }

    fn request_of(event: &Event<'_>) -> Option<Token> {
        match event {
            Event::Question { token, .. } => Some(*token),
            _ => None,
        }
    }

    fn unhandle(&mut self, request: Token) -> bool {
        let key = request.key_in(self.id);
        key.is_some_and(|key| self.questions.unread(key))
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
