//! The client as its driver sees it.

use super::reply::RESERVE;
use super::{Client, CloseReason, Event, Phase, Reply, Storage, Unusable};
use crate::action::{Action, BufferFull, Channel, Source, Token, Transmit, Why};
use crate::json::Writer;
use crate::machine::Machine;
use crate::revision::Revision;
use crate::rpc::{Incoming, Message};
use crate::time::Instant;

impl<S: Storage> Machine for Client<'_, S> {
    type Event<'b> = Event<'b>;
    type Reply<'b> = Reply<'b>;

    fn handle<'b>(
        &mut self,
        now: Instant,
        _from: &Source<'_>,
        incoming: Incoming<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if matches!(self.phase, Phase::Closed) {
            return Action::Ignore(Why::Closed);
        }
        let message = match incoming {
            Incoming::Message(message) => message,
            // JR-15, JR-19
            Incoming::BatchStart if self.revision.is_some_and(Revision::allows_batches) => {
                return Action::Ignore(Why::Absorbed);
            }
            Incoming::BatchStart => {
                self.skipping = true;
                return Action::Event(Event::Unusable(Unusable::Batch));
            }
            Incoming::BatchEnd => {
                self.skipping = false;
                return Action::Ignore(Why::Absorbed);
            }
        };
        match message {
            message if self.skipping => self.skipped(now, message),
            Message::Response(response) => self.answered(now, response),
            Message::Notification(notification) => self.told(now, notification),
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
        let mut writer = Writer::new(out);
        reply.0.write(&mut writer);
        writer.finish().map(Transmit::pipe)
    }

    fn reserve(&self) -> usize {
        RESERVE
    }

    fn forget(&mut self, token: Token) {
        self.questions.remove(token);
    }

    fn next_channel(&self) -> Option<Channel> {
        self.has_something_to_say().then_some(Channel::PIPE)
    }

    fn poll_transmit(
        &mut self,
        _now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        if on == Channel::PIPE {
            self.say(out)
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
        self.elapse(now);
    }

    fn hang_up(&mut self, _now: Instant) {
        self.close(CloseReason::HungUp);
    }
}
