//! Passes messages of machines to responses.

use alloc::vec::Vec;

use super::deadlines::Due;
use super::exchange::{Exchange, ExchangeHead, State};
use super::http_server::HttpServer;
use super::ids::{ExchangeId, ServerId};
use super::streams::{StreamRead, StreamReader, StreamResponse};
use crate::http::{Refusal, ResponseHead};
use crate::time::Instant;

impl HttpServer<'_> {
    /// The head of the response, once; `None` until it is decided.
    pub fn response(&mut self, exchange: ExchangeId) -> Option<ExchangeHead<'_>> {
        self.exchanges.get_mut(&exchange)?.take_head()
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
            State::Receiving { .. } | State::Posted { .. } => return StreamRead::Pending,
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
                    Some(entry) => entry.streams().read(reader, out, max),
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
                entry.streams().detach(&reader);
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
            State::Posted {
                machine, reader, ..
            } => (*machine, reader),
            State::Events { .. } => return self.mark_ready(id),
            State::Receiving { .. } | State::Whole { .. } => return,
        };
        let Some(entry) = self.machines.get_mut(&machine) else {
            return self.refuse(id, Refusal::SessionUnknown);
        };
        let begins = entry.is_alone() && exchange.due.is_none();
        let (head, body) = match entry.streams().response(reader, begins) {
            StreamResponse::Pending => return,
            StreamResponse::Events => {
                if entry.primes() {
                    let channel = reader.channel();
                    entry.streams().prime(channel);
                }
                if let Some((machine, reader)) = exchange.take_reader() {
                    self.respond_with_events(now, id, machine, reader);
                }
                // A stream that is begun by silence begins with a comment.
                if let Some(exchange) = self.exchanges.get_mut(&id)
                    && begins
                {
                    self.deadlines
                        .arm(Due::Exchange(id), &mut exchange.due, None);
                }
                return;
            }
            StreamResponse::Status(status) => (ResponseHead::of_status(status), Vec::new()),
            StreamResponse::Message {
                status, message, ..
            } => (ResponseHead::of_message(status), message),
            StreamResponse::Refused(refusal) => {
                self.leave(now, id, machine);
                return self.refuse(id, refusal);
            }
            StreamResponse::Nothing => {
                let refusal = match entry.is_alone() {
                    true => GIVEN_UP,
                    false => Refusal::SessionUnknown,
                };
                self.leave(now, id, machine);
                return self.refuse(id, refusal);
            }
        };
        self.leave(now, id, machine);
        self.respond(id, head, body);
    }

    /// Answers with all that there is to say.
    pub(super) fn respond(&mut self, id: ExchangeId, head: ResponseHead<'static>, body: Vec<u8>) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.respond(head, body);
            self.deadlines
                .arm(Due::Exchange(id), &mut exchange.due, None);
        }
        self.mark_ready(id);
    }

    /// Answers with a refusal.
    pub(super) fn refuse(&mut self, id: ExchangeId, refusal: Refusal) {
        let head = ResponseHead::of_refusal(refusal, self.endpoint.methods());
        self.respond(id, head, refusal.to_body());
    }

    /// Answers with a refusal where the machine says nothing.
    pub(super) fn refuse_reader(&mut self, now: Instant, id: ExchangeId, refusal: Refusal) {
        let found = self.exchanges.get_mut(&id).and_then(Exchange::take_reader);
        if let Some((machine, reader)) = found {
            if let Some(entry) = self.machines.get_mut(&machine) {
                entry.streams().detach(&reader);
            }
            self.leave(now, id, machine);
        }
        self.refuse(id, refusal);
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
    fn leave(&mut self, now: Instant, id: ExchangeId, machine: ServerId) {
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

const GIVEN_UP: Refusal = Refusal::Unavailable("the request was given up: it may have run");
