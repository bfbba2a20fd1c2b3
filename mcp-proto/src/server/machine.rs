//! The server as a `Machine` for its driver.

use core::time::Duration;

use super::config::ServerSettings;
use super::in_flight::InFlight;
use super::reply::{Reply, ReplyKind};
use super::{Event, Lifecycle, Server, Storage};
use crate::action::{Action, BufferFull, Channel, IgnoreReason, Transmit};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::ping::Missed;
use crate::rpc::Incoming;
use crate::slots::Queue;
use crate::source::{Arrival, Place};
use crate::time::Instant;
use crate::token::Token;

impl<'c, S: Storage, C: ServerSettings<'c>> Machine for Server<'_, S, C> {
    type Origin<'h> = <S::Place as Place>::Origin<'h>;
    type Event<'b> = Event<'b>;
    type Reply<'b> = Reply<'b>;

    const HAS_BATCHES: bool = S::HAS_BATCHES;

    fn handle<'b>(
        &mut self,
        now: Instant,
        from: &Self::Origin<'_>,
        incoming: Incoming<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if self.life != Lifecycle::Open {
            return Action::Ignore(IgnoreReason::Closed);
        }
        let mut from = Arrival::new(from);
        match incoming {
            Incoming::Message(message) => {
                let action = self.message(now, &mut from, message);
                let limit = Duration::from_millis(self.config.overdue_after.into());
                if let Action::Event(Event::Request { token, .. }) = &action
                    && !limit.is_zero()
                    && let Ok(key) = self.requests.key(*token)
                {
                    self.requests.set_overdue(key, now + limit);
                }
                action
            }
            Incoming::BatchStart => self.start_batch(&from),
            Incoming::BatchEnd => self.end_array(),
        }
    }

    fn reply(
        &mut self,
        now: Instant,
        reply: Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        if reply.machine != Some(self.requests.machine()) {
            return Ok(Transmit::pipe(0));
        }
        let Self {
            requests, config, ..
        } = self;
        let written = requests.reply(reply.batched, reply.id, out, |out| {
            reply.write(config, S::Place::MANY, out)
        })?;
        let len = written.len;
        let said = Some(reply.kind).filter(|_| !written.is_replaced);
        let is_error = matches!(said, None | Some(ReplyKind::Error { .. })) && len > 0;
        match said {
            Some(ReplyKind::Initialize(opened)) => {
                let by_exchanges = S::Place::of(reply.channel).is_exchange();
                self.session.open(&opened, by_exchanges);
                self.questions.start_pings(now);
            }
            Some(ReplyKind::LogLevel(level)) => self.session.set_log_level(level),
            Some(
                ReplyKind::Discover(_)
                | ReplyKind::Pong
                | ReplyKind::Error { .. }
                | ReplyKind::BatchEnd,
            )
            | None => {}
        }
        Ok(Transmit {
            end: reply.end,
            status: reply.status,
            is_error,
            ..Transmit::on(reply.channel, len)
        })
    }

    fn event_after_reply<'b>(&self, reply: &Self::Reply<'b>) -> Option<Self::Event<'b>> {
        match reply.kind {
            ReplyKind::Initialize(opened) if reply.machine == Some(self.requests.machine()) => {
                // An error goes in the place of an answer that never fits.
                let needed = match reply.write(&self.config, S::Place::MANY, &mut []) {
                    Err(full) => full.needed,
                    Ok(len) => len,
                };
                (needed <= self.requests.max_message()).then_some(Event::Handshake(opened))
            }
            _ => None,
        }
    }

    fn limits(&self) -> &Limits {
        self.config.limits()
    }

    fn reserve(&self) -> usize {
        self.config.reserve().saturating_add(S::ID_ECHO)
    }

    fn set_max_message(&mut self, len: usize) {
        self.requests
            .set_max_message(len.min(self.config.limits.max_message()));
    }

    fn request_of(event: &Event<'_>) -> Option<Token> {
        match event {
            Event::Request { token, .. } | Event::Listening { token, .. } => Some(*token),
            _ => None,
        }
    }

    fn unhandle(&mut self, request: Token) -> bool {
        let Ok(key) = self.requests.key(request) else {
            return false;
        };
        if self.requests.table.get(key).is_none() {
            return false;
        }
        self.requests.uncount_element();
        self.release(key);
        true
    }

    fn next_channel_where(&self, mut has_room: impl FnMut(Channel) -> bool) -> Option<Channel> {
        if !self.has_output() {
            return None;
        }
        let requests = self.requests.table.marked(Queue::Transmit);
        let array = self.requests.batch.ready().map(Place::channel);
        let pipe = self.session_has_output() || self.questions.is_ping_due();
        let mut channels = requests
            .map(|(_, request)| request.place().channel())
            .chain(array)
            .chain(self.questions.cancelled_on())
            .chain(pipe.then_some(Channel::PIPE));
        channels.find(|channel| has_room(*channel))
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        self.transmit(now, on, out)
    }

    fn poll_event<'b>(&mut self) -> Option<Event<'b>> {
        if self.session.take_announcement() {
            return Some(Event::Initialized);
        }
        if let Some(misses) = self.missed.take() {
            return Some(Event::PingMissed {
                misses,
                limit: self.config.ping.map_or(0, |policy| policy.misses),
            });
        }
        if let Some(event) = self.questions.next_answer() {
            return Some(event);
        }
        if let Some(key) = self.requests.table.first(Queue::Event) {
            let token = self.requests.token(key);
            if self
                .requests
                .table
                .get(key)
                .is_some_and(InFlight::is_running)
            {
                self.requests.table.unmark(Queue::Event, key);
                return Some(Event::Overdue { token });
            }
            self.retire(key);
            return Some(Event::Cancelled {
                token,
                reason: None,
            });
        }
        if self.life == Lifecycle::Closing {
            self.life = Lifecycle::Closed;
            return Some(Event::Closed);
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = [
            self.requests.table.next_deadline(),
            self.questions.next_deadline(),
        ];
        Instant::earliest(deadlines)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.requests
            .handle_timeout(now, self.config.progress_interval);
        match self.questions.handle_timeout(now) {
            Some(Missed::Again(misses)) => self.missed = Some(misses),
            Some(Missed::Last(misses)) => {
                self.missed = Some(misses);
                self.close();
            }
            None => {}
        }
    }

    fn hang_up(&mut self) {
        self.close();
    }
}
