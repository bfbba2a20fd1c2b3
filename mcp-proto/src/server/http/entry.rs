//! One machine, its streams and the exchanges that read them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::ExchangeId;
use super::streams::{Delivery, StreamLimits, Streams};
use crate::action::{Channel, Transmit};
use crate::conversation::{Conversation, Outgoing, Receipt};
use crate::machine::Machine;
use crate::outbox::Outbox;
use crate::server::{Event, Growing, Server};
use crate::time::Instant;
use crate::token::SentToken;

/// A machine and where its messages go.
pub(super) struct Entry<'c> {
    pub(super) server: Server<'c, Growing>,
    pub(super) outgoing: NotedStreams,
    pub(super) kind: Kind,
    /// The principal that it belongs to.
    pub(super) principal: Option<Box<str>>,
    /// The exchanges that read its streams.
    readers: Vec<(Channel, ExchangeId)>,
    /// The time at which its session was last used.
    pub(super) used: Instant,
    /// The deadline that is registered for it.
    pub(super) armed: Option<Instant>,
    /// True if the machine is in the queue of those that the next step handles.
    pub(super) dirty: bool,
    /// True if the machine accepts nothing more: it is removed when its events and its streams were
    /// read.
    pub(super) closing: bool,
}

/// The lifetime of a machine.
pub(super) enum Kind {
    /// As long as one exchange.
    Exchange,
    /// As long as a session that its handshake, once answered, opens under this id.
    Handshake(Box<str>),
    /// As long as the session with this id.
    Session(Box<str>),
}

/// Streams, with a list of those that have something new.
pub(super) struct NotedStreams {
    pub(super) streams: Streams,
    news: Vec<Channel>,
}

impl Outgoing for NotedStreams {
    fn has_room(&self, on: Channel) -> bool {
        self.streams.has_room(on)
    }

    fn take(
        &mut self,
        transmit: Transmit,
        request: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        self.note(transmit.channel);
        self.streams.take(transmit, request, message)
    }
}

impl NotedStreams {
    fn note(&mut self, channel: Channel) {
        if self.news.last() != Some(&channel) {
            self.news.push(channel);
        }
    }
}

impl<'c> Entry<'c> {
    pub(super) fn new(
        server: Server<'c, Growing>,
        (kind, principal): (Kind, Option<Box<str>>),
        limits: StreamLimits,
        now: Instant,
    ) -> Self {
        let delivery = match kind {
            Kind::Exchange => Delivery::Once,
            Kind::Handshake(_) | Kind::Session(_) => Delivery::Resumable,
        };
        Self {
            server,
            outgoing: NotedStreams {
                streams: Streams::new(delivery, limits),
                news: Vec::new(),
            },
            kind,
            principal,
            readers: Vec::new(),
            used: now,
            armed: None,
            dirty: false,
            closing: false,
        }
    }

    pub(super) const fn streams(&mut self) -> &mut Streams {
        &mut self.outgoing.streams
    }

    /// The machine with its streams, writing to this buffer.
    pub(super) const fn conversation<'p>(
        &'p mut self,
        outbox: &'p mut Outbox<Vec<u8>>,
    ) -> Conversation<'p, Server<'c, Growing>, NotedStreams, Vec<u8>> {
        Conversation {
            machine: &mut self.server,
            outgoing: &mut self.outgoing,
            outbox,
        }
    }

    /// The id of its session.
    pub(super) fn session(&self) -> Option<&str> {
        match &self.kind {
            Kind::Session(id) => Some(id),
            Kind::Exchange | Kind::Handshake(_) => None,
        }
    }

    /// Returns true if the machine belongs to one exchange.
    pub(super) const fn is_alone(&self) -> bool {
        matches!(self.kind, Kind::Exchange)
    }

    /// Returns true if the event streams of the machine begin with an id to resume from (SH-12).
    pub(super) fn primes(&self) -> bool {
        let revision = self.server.revision();
        revision.is_some_and(crate::revision::Revision::has_event_polling)
    }

    /// Makes an exchange the reader of a stream, and returns the one whose place it takes.
    pub(super) fn attach(&mut self, channel: Channel, exchange: ExchangeId) -> Option<ExchangeId> {
        let former = self.readers.iter().position(|it| it.0 == channel);
        let former = former.map(|index| self.readers.swap_remove(index).1);
        self.readers.push((channel, exchange));
        former
    }

    /// Forgets an exchange.
    pub(super) fn detach(&mut self, exchange: ExchangeId) {
        self.readers.retain(|it| it.1 != exchange);
    }

    /// The exchanges that read its streams.
    pub(super) fn readers(&self) -> impl Iterator<Item = ExchangeId> {
        self.readers.iter().map(|it| it.1)
    }

    /// The exchange that reads a stream with something new on it.
    pub(super) fn next_news(&mut self) -> Option<ExchangeId> {
        while let Some(channel) = self.outgoing.news.pop() {
            let reader = self.readers.iter().find(|it| it.0 == channel);
            if let Some(reader) = reader {
                return Some(reader.1);
            }
        }
        None
    }

    /// Returns the next deadline of the machine or of its session; a session that is in use does
    /// not expire.
    pub(super) fn deadline(&self, idle: Duration) -> Option<Instant> {
        let expiry = self.expiry(idle);
        self.server.poll_timeout().into_iter().chain(expiry).min()
    }

    /// Returns the time at which the session expires if nothing happens.
    pub(super) fn expiry(&self, idle: Duration) -> Option<Instant> {
        let is_session = matches!(self.kind, Kind::Session(_));
        let unused = is_session && !self.closing && self.server.in_flight() == 0;
        (unused && !self.outgoing.streams.has_readers()).then(|| self.used + idle)
    }

    /// Ends the machine; its streams end after what is on them.
    pub(super) fn close(&mut self) {
        self.server.hang_up();
        self.streams().finish();
        self.closing = true;
    }

    /// Ends the response in which a stream is read; the stream continues.
    pub(super) fn disconnect(&mut self, channel: Channel, retry: Duration) -> bool {
        self.outgoing.note(channel);
        self.streams().disconnect(channel, Some(retry))
    }

    /// Notes what an event means for the streams.
    pub(super) fn note(&mut self, event: &Event<'_>) {
        if let Event::Answer { token, .. } = event {
            self.streams().answered(*token);
        }
    }
}
