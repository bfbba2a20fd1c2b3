//! Passes requests to machines.

use alloc::boxed::Box;
use alloc::string::String;

use super::body::{Body, OwnedPost};
use super::deadlines::Due;
use super::driver::HttpServer;
use super::entry::{Entry, Kind};
use super::exchange::{Exchange, State};
use super::ids::{ExchangeId, ServerId};
use super::response::{self, Response};
use super::streams::StreamReader;
use crate::http::{Field, Get, Head, Opening, Post, Route, SessionId};
use crate::revision::Revision;
use crate::rpc::Messages;
use crate::server::{Growing, Server, SessionSnapshot};
use crate::time::Instant;

impl HttpServer<'_> {
    /// Begins an exchange with the head of a request. If it [wants the
    /// body](Self::wants_body), the body comes next; otherwise it has its response.
    ///
    /// `principal` names who sends the request, where the driver has authenticated that. A session
    /// belongs to the principal that opened it: requests of others get 404, as if it did not exist
    /// (SH-43). Without authentication it is `None` for all, and every client that has the id of a
    /// session can use it.
    pub fn open(
        &mut self,
        now: Instant,
        head: &(impl Head + ?Sized),
        principal: Option<&str>,
    ) -> ExchangeId {
        let id = self.next_exchange_id();
        let origin = match head.field("origin") {
            Field::One(origin) if self.endpoint.access.allows_origin(origin) => Some(origin.into()),
            _ => None,
        };
        self.exchanges.insert(
            id,
            Exchange::new(origin, principal.map(Box::from), has_body(head)),
        );
        let methods = self.endpoint.methods();
        match self.endpoint.open(head) {
            Ok(Opening::Post(post)) => self.receive(now, id, &post),
            Ok(Opening::Get(get)) => match self.listen(now, id, &get, principal) {
                Ok((machine, reader)) => self.respond_with_events(now, id, machine, reader),
                Err(refused) => self.respond(id, refused),
            },
            Ok(Opening::Delete(session)) => match self.session(session, principal) {
                Ok(machine) => {
                    self.end(now, machine);
                    self.respond(id, response::status(204));
                }
                Err(unknown) => self.respond(id, unknown),
            },
            Ok(Opening::Preflight) => self.respond(id, response::preflight(head, methods)),
            Err(refusal) => self.respond(id, response::refusal(refusal, methods)),
        }
        id
    }

    /// Whether the body of this request is to be read. Where it is not, a body that may follow is
    /// not looked at, and the connection must be closed after the response.
    pub fn wants_body(&self, exchange: ExchangeId) -> bool {
        let exchange = self.exchanges.get(&exchange);
        exchange.is_some_and(|it| matches!(it.state, State::Receiving { .. }))
    }

    /// Takes a part of the body, without the framing of its transfer coding. A body that is too
    /// long is refused, and not wanted from then on.
    pub fn body(&mut self, exchange: ExchangeId, bytes: &[u8]) {
        let limit = self.options.limits.body;
        let Some(State::Receiving { text, .. }) =
            self.exchanges.get_mut(&exchange).map(|it| &mut it.state)
        else {
            return;
        };
        let all = self.body_bytes.saturating_add(bytes.len());
        if text.len().saturating_add(bytes.len()) > limit {
            self.refuse_body(exchange, response::too_long(limit));
        } else if all > self.options.bodies {
            let reason = "there are too many long bodies under way";
            self.refuse_body(exchange, response::busy(reason));
        } else {
            text.extend_from_slice(bytes);
            self.body_bytes = all;
        }
    }

    /// The body has ended: its messages are handled by the next steps. `session_id` is called if
    /// they may open a session. It returns an id that cannot be guessed, of visible ASCII
    /// characters (SH-28): 128 random bits in hexadecimal digits, for example.
    pub fn end_body(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        session_id: impl FnOnce() -> String,
    ) {
        let Some(found) = self.exchanges.get_mut(&exchange) else {
            return;
        };
        let Some((post, text)) = found.take_body() else {
            return;
        };
        let principal = found.principal.take();
        self.deadlines
            .arm(Due::Exchange(exchange), &mut found.due, None);
        let stream = self
            .machine_for(now, (&post.head(), principal), &text, session_id)
            .and_then(|machine| Ok((machine, self.open_stream(now, exchange, machine)?)));
        match stream {
            Ok((machine, reader)) => {
                let channel = reader.channel();
                if let Some(found) = self.exchanges.get_mut(&exchange) {
                    found.state = State::Handling { machine, reader };
                }
                self.bodies
                    .push_back(Body::new(exchange, machine, channel, post, text));
            }
            Err(refused) => {
                self.body_bytes = self.body_bytes.saturating_sub(text.len());
                self.respond(exchange, refused);
            }
        }
    }

    /// The machine had all messages of this body.
    pub(super) fn finish_body(&mut self, now: Instant, body: &Body) {
        self.body_bytes = self.body_bytes.saturating_sub(body.text.len());
        let id = body.exchange;
        let waits = self.exchanges.contains_key(&id);
        let session = match self.open_session(now, body.machine, waits) {
            Ok(session) => session,
            Err(refused) => return self.respond_without_message(now, id, refused),
        };
        let Some((machine, reader)) = self.exchanges.get_mut(&id).and_then(Exchange::take_reader)
        else {
            return;
        };
        let Some(entry) = self.machines.get_mut(&machine) else {
            return self.respond(id, response::no_session());
        };
        let polls = entry
            .server
            .revision()
            .is_some_and(Revision::has_event_polling);
        entry.used = now;
        if let Some(status) = body.status() {
            entry.streams.detach(&reader);
            self.leave(now, id, machine);
            self.respond(id, response::status(status));
        } else if entry.is_alone() {
            let due = now + self.options.keep_alive;
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.state = State::Waiting { machine, reader };
                self.deadlines
                    .arm(Due::Exchange(id), &mut exchange.due, Some(due));
            }
            self.decide(now, id);
        } else if let Some(message) = entry.streams.single(&reader) {
            let (mut head, message) = response::message(entry.status(reader.channel()), message);
            if let Some(session) = session {
                head.set_session(&session);
            }
            self.leave(now, id, machine);
            self.respond(id, (head, message));
        } else {
            if polls {
                entry.streams.prime(reader.channel());
            }
            self.respond_with_events(now, id, machine, reader);
        }
    }

    /// Answers a request whose body is not read to its end.
    pub(super) fn refuse_body(&mut self, id: ExchangeId, refused: Response) {
        if let Some(exchange) = self.exchanges.get(&id)
            && let State::Receiving { text, .. } = &exchange.state
        {
            self.body_bytes = self.body_bytes.saturating_sub(text.len());
        }
        self.respond(id, refused);
    }

    fn receive(&mut self, now: Instant, id: ExchangeId, post: &Post<'_>) {
        let deadline = now + self.options.body_timeout;
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.receive(OwnedPost::new(post));
            self.deadlines
                .arm(Due::Exchange(id), &mut exchange.due, Some(deadline));
        }
    }

    /// A reader of a session's own stream, or of the one that is resumed.
    fn listen(
        &mut self,
        now: Instant,
        id: ExchangeId,
        get: &Get<'_>,
        principal: Option<&str>,
    ) -> Result<(ServerId, StreamReader), Response> {
        let machine = self.session(get.session, principal)?;
        let entry = self
            .machines
            .get_mut(&machine)
            .ok_or_else(response::no_session)?;
        entry.used = now;
        let reader = match get.last_event_id {
            Some(event) => entry
                .streams
                .resume(event)
                .map_err(|refusal| response::refusal(refusal, self.endpoint.methods()))?,
            None => {
                let reader = entry.streams.listen();
                // Those that were answered were forgotten.
                entry.streams.reopen(|_| true);
                reader
            }
        };
        // A client may forget the id that it resumed from, so it is given one in each stream.
        if entry
            .server
            .revision()
            .is_some_and(Revision::has_event_polling)
        {
            entry.streams.prime(reader.channel());
        }
        let former = entry.attach(reader.channel(), id);
        self.mark(machine);
        // Its turn is over.
        if let Some(former) = former {
            self.mark_ready(former);
        }
        Ok((machine, reader))
    }

    /// The machine of a session that this principal opened.
    fn session(&self, id: SessionId<'_>, principal: Option<&str>) -> Result<ServerId, Response> {
        let machine = self.sessions.get(id.as_str()).copied();
        let own = |machine: &ServerId| {
            let entry = self.machines.get(machine);
            entry.is_some_and(|entry| entry.principal.as_deref() == principal)
        };
        machine.filter(own).ok_or_else(response::no_session)
    }

    /// The machine that a body is for.
    fn machine_for(
        &mut self,
        now: Instant,
        (post, principal): (&Post<'_>, Option<Box<str>>),
        text: &[u8],
        session_id: impl FnOnce() -> String,
    ) -> Result<ServerId, Response> {
        let limits = self.prepared.config().limits;
        // A head that is modern says enough, so the body is read once.
        let first = match post.is_modern() {
            true => None,
            false => Messages::new(text, limits.depth).next(),
        };
        let route = first.map_or(Route::Modern, |first| self.endpoint.route(post, &first));
        let (server, kind) = match route {
            Route::Refuse(refusal) => {
                return Err(response::refusal(refusal, self.endpoint.methods()));
            }
            Route::Session(id) => {
                let machine = self.session(id, principal.as_deref())?;
                if let Some(entry) = self.machines.get_mut(&machine) {
                    entry.used = now;
                }
                return Ok(machine);
            }
            Route::Initialize if self.endpoint.sessions => {
                if self.machines.len() - self.alone >= self.options.limits.sessions {
                    let reason = "there are as many sessions as there may be";
                    return Err(response::busy(reason));
                }
                let id = session_id();
                if !self.is_free(&id) {
                    return Err(response::busy(NO_ID));
                }
                let id = Box::from(id);
                let Ok(server) = Server::new(self.prepared.clone(), Growing);
                (server, Kind::Handshake(id))
            }
            _ if self.alone >= self.options.exchanges => {
                let reason = "there are as many requests under way as there may be";
                return Err(response::busy(reason));
            }
            Route::Stateless(revision) => {
                let snapshot = SessionSnapshot::stateless(revision);
                let Ok(server) = Server::resume(now, self.prepared.clone(), Growing, &snapshot);
                (server, Kind::Exchange)
            }
            // A handshake that opens no session is an exchange like others.
            Route::Modern | Route::Initialize => {
                // One POST is one request, so its table has one place.
                let prepared = self.prepared.clone().with_in_flight(1);
                let Ok(server) = Server::new(prepared, Growing);
                (server, Kind::Exchange)
            }
        };
        let id = self.next_server_id();
        let entry = Entry::new(server, (kind, principal), self.options.streams, now);
        self.alone += usize::from(entry.is_alone());
        self.machines.insert(id, entry);
        Ok(id)
    }

    /// The stream of a POST.
    fn open_stream(
        &mut self,
        now: Instant,
        id: ExchangeId,
        machine: ServerId,
    ) -> Result<StreamReader, Response> {
        let entry = self
            .machines
            .get_mut(&machine)
            .ok_or_else(response::no_session)?;
        match entry.streams.open() {
            Ok(reader) => {
                entry.attach(reader.channel(), id);
                Ok(reader)
            }
            Err(_) => {
                // A machine that was made for this body has no other use.
                if entry.session().is_none() {
                    self.end(now, machine);
                }
                Err(response::busy("the session has too many streams"))
            }
        }
    }

    /// Makes a session of a handshake that was answered, if a client `waits` for its id. The
    /// machine of one that failed is over.
    fn open_session(
        &mut self,
        now: Instant,
        machine: ServerId,
        waits: bool,
    ) -> Result<Option<Box<str>>, Response> {
        let Some(entry) = self.machines.get(&machine) else {
            return Ok(None);
        };
        let Kind::Handshake(id) = &entry.kind else {
            return Ok(None);
        };
        let opened = entry.server.revision().is_some() && waits;
        let (id, free) = (id.clone(), self.is_free(id));
        if !opened || !free {
            self.end(now, machine);
            return match opened {
                true => Err(response::busy(NO_ID)),
                false => Ok(None),
            };
        }
        if let Some(entry) = self.machines.get_mut(&machine) {
            entry.kind = Kind::Session(id.clone());
        }
        self.sessions.insert(id.clone(), machine);
        self.mark(machine);
        Ok(Some(id))
    }

    /// Whether a session can have this id.
    fn is_free(&self, id: &str) -> bool {
        SessionId::new(id.as_bytes()).is_some() && !self.sessions.contains_key(id)
    }
}

/// Whether a body follows a head.
fn has_body(head: &(impl Head + ?Sized)) -> bool {
    let is_empty = matches!(head.field("content-length"), Field::None | Field::One(b"0"));
    !is_empty || head.field("transfer-encoding") != Field::None
}

const NO_ID: &str = "the server has no id for the session";
