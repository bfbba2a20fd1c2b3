//! One machine, its streams and the exchanges that read them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::ExchangeId;
use super::streams::{Delivery, StreamLimits, Streams};
use crate::action::{BufferFull, Channel, Transmit};
use crate::machine::Machine;
use crate::outbox::{NeedsBuffer, Output};
use crate::server::{Event, Growing, Reply, Server};
use crate::store::Store;
use crate::time::Instant;
use crate::token::SentToken;

/// A machine and where its messages go.
pub(super) struct Entry<'c> {
    pub(super) server: Server<'c, Growing>,
    pub(super) streams: Streams,
    pub(super) kind: Kind,
    /// Whose it is.
    pub(super) principal: Option<Box<str>>,
    /// The exchanges that read its streams.
    readers: Vec<Attached>,
    /// Streams with something new on them.
    news: Vec<Channel>,
    /// When its session was last used.
    pub(super) used: Instant,
    /// The deadline that is registered for it.
    pub(super) armed: Option<Instant>,
    /// Whether it is among those to be looked at.
    pub(super) dirty: bool,
    /// Whether nothing more is taken in: it goes when its events and its streams were read.
    pub(super) closing: bool,
}

/// How long a machine lives.
pub(super) enum Kind {
    /// As long as one exchange.
    Exchange,
    /// As long as a session that its handshake, once answered, opens under this id.
    Handshake(Box<str>),
    /// As long as the session with this id.
    Session(Box<str>),
}

/// An exchange on a stream.
struct Attached {
    channel: Channel,
    exchange: ExchangeId,
    /// The status that the first message asks for.
    status: Option<u16>,
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
            streams: Streams::new(delivery, limits),
            kind,
            principal,
            readers: Vec::new(),
            news: Vec::new(),
            used: now,
            armed: None,
            dirty: false,
            closing: false,
        }
    }

    /// The id of its session.
    pub(super) fn session(&self) -> Option<&str> {
        match &self.kind {
            Kind::Session(id) => Some(id),
            Kind::Exchange | Kind::Handshake(_) => None,
        }
    }

    /// Whether it belongs to one exchange.
    pub(super) const fn is_alone(&self) -> bool {
        matches!(self.kind, Kind::Exchange)
    }

    /// Makes an exchange the reader of a stream, and returns the one whose place it takes.
    pub(super) fn attach(&mut self, channel: Channel, exchange: ExchangeId) -> Option<ExchangeId> {
        let former = self.readers.iter().position(|it| it.channel == channel);
        let former = former.map(|index| self.readers.swap_remove(index).exchange);
        self.readers.push(Attached {
            channel,
            exchange,
            status: None,
        });
        former
    }

    /// Forgets an exchange.
    pub(super) fn detach(&mut self, exchange: ExchangeId) {
        self.readers.retain(|it| it.exchange != exchange);
    }

    /// The exchanges that read its streams.
    pub(super) fn readers(&self) -> impl Iterator<Item = ExchangeId> {
        self.readers.iter().map(|it| it.exchange)
    }

    /// The exchange that reads a stream with something new on it.
    pub(super) fn next_news(&mut self) -> Option<ExchangeId> {
        while let Some(channel) = self.news.pop() {
            let reader = self.readers.iter().find(|it| it.channel == channel);
            if let Some(reader) = reader {
                return Some(reader.exchange);
            }
        }
        None
    }

    /// The status of the only message of a stream.
    pub(super) fn status(&self, channel: Channel) -> u16 {
        let reader = self.readers.iter().find(|it| it.channel == channel);
        reader.and_then(|it| it.status).unwrap_or(200)
    }

    /// When it has to be looked at again; a session that is in use does not expire.
    pub(super) fn deadline(&self, idle: Duration) -> Option<Instant> {
        let expiry = self.expiry(idle);
        self.server.poll_timeout().into_iter().chain(expiry).min()
    }

    /// When the session is over if nothing happens.
    pub(super) fn expiry(&self, idle: Duration) -> Option<Instant> {
        let is_session = matches!(self.kind, Kind::Session(_));
        let unused = is_session && !self.closing && self.server.in_flight() == 0;
        (unused && !self.streams.has_readers()).then(|| self.used + idle)
    }

    /// Ends the machine; its streams end after what is on them.
    pub(super) fn close(&mut self, now: Instant) {
        self.server.hang_up(now);
        self.streams.finish();
        self.closing = true;
    }

    /// Lets the machine write a message, and puts it on the stream that it is for.
    pub(super) fn put<T: Output, E: NeedsBuffer>(
        &mut self,
        out: &mut Vec<u8>,
        mut write: impl FnMut(&mut Server<'c, Growing>, &mut [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            match write(&mut self.server, out) {
                Ok(written) => {
                    if let Some(transmit) = written.transmit() {
                        let message = out.get(..transmit.len).unwrap_or_default();
                        self.push(transmit, written.request(), message);
                    }
                    return Ok(written);
                }
                Err(error) => match error.needed() {
                    Some(needed) if needed > out.len() && Store::<u8>::grow(out, needed) => {}
                    _ => return Err(error),
                },
            }
        }
    }

    /// Writes an answer of the core.
    pub(super) fn reply(
        &mut self,
        now: Instant,
        reply: Reply<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), BufferFull> {
        if !Store::<u8>::grow(out, self.server.reserve()) {
            let needed = self.server.reserve();
            return Err(BufferFull { needed });
        }
        let transmit = self.server.reply(now, reply, out)?;
        let message = out.get(..transmit.len).unwrap_or_default();
        self.push(transmit, None, message);
        Ok(())
    }

    /// Writes what follows from state. A stream that is full holds up no other.
    pub(super) fn flush(&mut self, now: Instant, out: &mut Vec<u8>) {
        loop {
            let streams = &self.streams;
            let next = self
                .server
                .next_channel_where(|channel| streams.has_room(channel));
            let Some(channel) = next else { return };
            let sent = self.put(out, |server, out| server.poll_transmit(now, channel, out));
            if !matches!(sent, Ok(Some(_))) {
                return;
            }
        }
    }

    /// Ends the response in which a stream is read; the stream continues.
    pub(super) fn disconnect(&mut self, channel: Channel, retry: Duration) -> bool {
        let possible = self.streams.disconnect(channel, Some(retry));
        self.news.push(channel);
        possible
    }

    /// Notes what an event means for the streams.
    pub(super) fn note(&mut self, event: &Event<'_>) {
        if let Event::Answer { token, .. } = event {
            self.streams.answered(*token);
        }
    }

    fn push(&mut self, transmit: Transmit, question: Option<SentToken>, message: &[u8]) {
        let Transmit {
            channel,
            end,
            status,
            ..
        } = transmit;
        if message.is_empty() && !end {
            return;
        }
        let reader = self.readers.iter_mut().find(|it| it.channel == channel);
        if let Some(reader) = reader
            && !message.is_empty()
        {
            reader.status.get_or_insert(status);
        }
        self.streams.push(channel, message, question, end);
        if self.news.last() != Some(&channel) {
            self.news.push(channel);
        }
    }
}
