//! Passes messages of machines to responses.

use alloc::vec::Vec;

use super::deadlines::Due;
use super::driver::HttpServer;
use super::exchange::{Exchange, State};
use super::ids::{ExchangeId, ServerId};
use super::response::{self, Response, ResponseHead};
use super::streams::{StreamRead, StreamReader};
use crate::time::Instant;

impl HttpServer<'_> {
    /// The head of the response, once; `None` until it is decided.
    pub fn response(&mut self, exchange: ExchangeId) -> Option<ResponseHead> {
        self.exchanges.get_mut(&exchange)?.head.take()
    }

    /// Appends what there is of the body, up to about `max` bytes: JSON, or events. Take the
    /// [head](Self::response) first.
    ///
    /// After [`StreamRead::More`] ask again when these bytes were written, after [`StreamRead::Pending`] when
    /// a step says [`Ready`](super::HttpStep::Ready) again. With [`StreamRead::End`] the exchange is
    /// over. Call [`step`](Self::step) afterwards: what was read makes room.
    pub fn read(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        out: &mut Vec<u8>,
        max: usize,
    ) -> StreamRead {
        let Some(found) = self.exchanges.get_mut(&exchange) else {
            return StreamRead::End;
        };
        let start = out.len();
        let read = match &mut found.state {
            State::Receiving { .. } | State::Handling { .. } | State::Waiting { .. } => {
                return StreamRead::Pending;
            }
            State::Whole { body, read } => {
                let rest = body.get(*read..).unwrap_or_default();
                let count = rest.len().min(max.max(1));
                out.extend_from_slice(rest.get(..count).unwrap_or_default());
                *read += count;
                match *read < body.len() {
                    true => StreamRead::More,
                    false => StreamRead::End,
                }
            }
            State::Events { machine, reader } => {
                let machine = *machine;
                let read = match self.machines.get_mut(&machine) {
                    Some(entry) => entry.streams.read(reader, out, max),
                    None => StreamRead::End,
                };
                let silent = found.due.is_none_or(|due| due <= now);
                if read == StreamRead::Pending && out.len() == start && silent {
                    // SH-42
                    out.extend_from_slice(b":\n\n");
                }
                if out.len() > start {
                    let due = now + self.options.keep_alive;
                    self.deadlines
                        .arm(Due::Exchange(exchange), &mut found.due, Some(due));
                    self.mark(machine);
                }
                read
            }
        };
        if read == StreamRead::End {
            self.hang_up(now, exchange);
        }
        read
    }

    /// The client does not wait for the response any more, because its connection is closed. A
    /// request of 2026-07-28 is cancelled by that (SH-19). One of a session continues (SH-18),
    /// and so does its stream, if the client has an id to resume it by.
    pub fn hang_up(&mut self, now: Instant, exchange: ExchangeId) {
        let Some(mut found) = self.exchanges.remove(&exchange) else {
            return;
        };
        self.deadlines
            .arm(Due::Exchange(exchange), &mut found.due, None);
        if let State::Receiving { text, .. } = &found.state {
            self.body_bytes = self.body_bytes.saturating_sub(text.len());
        }
        if let Some((machine, reader)) = found.take_reader() {
            if let Some(entry) = self.machines.get_mut(&machine) {
                entry.streams.detach(&reader);
            }
            self.leave(now, exchange, machine);
        }
    }

    /// Looks at what is new for an exchange: what its response is, or that there is more of it.
    pub(super) fn decide(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        let (machine, reader) = match &exchange.state {
            State::Waiting { machine, reader } => (*machine, reader),
            State::Events { .. } => return self.mark_ready(id),
            State::Receiving { .. } | State::Handling { .. } | State::Whole { .. } => return,
        };
        let Some(entry) = self.machines.get_mut(&machine) else {
            return self.respond(id, response::no_session());
        };
        let channel = reader.channel();
        if let Some(message) = entry.streams.single(reader) {
            let whole = response::message(entry.status(channel), message);
            self.leave(now, id, machine);
            return self.respond(id, whole);
        }
        match entry.streams.extent(channel) {
            Some((0, false)) if entry.closing => {
                self.respond_without_message(now, id, response::busy("the request was given up"));
            }
            Some((0, false)) if exchange.due.is_some() => {}
            None | Some((0, true)) => {
                self.respond_without_message(now, id, response::status(202));
            }
            Some(_) => {
                let silent = exchange.due.is_none();
                if let Some((machine, reader)) = exchange.take_reader() {
                    self.respond_with_events(now, id, machine, reader);
                }
                // A stream that is begun by silence begins with a comment.
                if let Some(exchange) = self.exchanges.get_mut(&id)
                    && silent
                {
                    self.deadlines
                        .arm(Due::Exchange(id), &mut exchange.due, None);
                }
            }
        }
    }

    /// Answers with all that there is to say.
    pub(super) fn respond(&mut self, id: ExchangeId, whole: Response) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.respond(whole);
            self.deadlines
                .arm(Due::Exchange(id), &mut exchange.due, None);
        }
        self.mark_ready(id);
    }

    /// The same where the machine says nothing.
    pub(super) fn respond_without_message(
        &mut self,
        now: Instant,
        id: ExchangeId,
        whole: Response,
    ) {
        let found = self.exchanges.get_mut(&id).and_then(Exchange::take_reader);
        if let Some((machine, reader)) = found {
            if let Some(entry) = self.machines.get_mut(&machine) {
                entry.streams.detach(&reader);
            }
            self.leave(now, id, machine);
        }
        self.respond(id, whole);
    }

    /// Answers with the events of a stream.
    pub(super) fn respond_with_events(
        &mut self,
        now: Instant,
        id: ExchangeId,
        machine: ServerId,
        reader: StreamReader,
    ) {
        let due = now + self.options.keep_alive;
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.respond_with_events(machine, reader);
            self.deadlines
                .arm(Due::Exchange(id), &mut exchange.due, Some(due));
        }
        self.mark_ready(id);
    }

    /// An exchange needs its machine no longer; one that has no other ends.
    pub(super) fn leave(&mut self, now: Instant, id: ExchangeId, machine: ServerId) {
        let Some(entry) = self.machines.get_mut(&machine) else {
            return;
        };
        entry.detach(id);
        entry.used = now;
        match entry.is_alone() {
            true => self.end(now, machine),
            false => self.mark(machine),
        }
    }
}
