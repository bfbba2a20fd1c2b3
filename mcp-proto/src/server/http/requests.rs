//! Passes requests to machines.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

use super::deadlines::Due;
use super::entry::{Entry, Kind};
use super::exchange::{Exchange, State};
use super::http_server::HttpServer;
use super::ids::{ExchangeId, ServerId};
use super::streams::StreamReader;
use crate::action::{Action, Channel, IgnoreReason};
use crate::http::{
    Field, Get, Head, Opening, OwnedPost, Post, PostStatus, Refusal, ResponseHead, Route, SessionId,
};
use crate::rpc::{Incoming, Messages, OwnedMessages};
use crate::server::{Event, Growing, Server, SessionSnapshot};
use crate::source::Source;
use crate::time::Instant;

/// The body of a POST, whose messages are for one machine. Pass each of its [messages](Self::messages) to
/// [`HttpServer::receive`], and then all of it to [`HttpServer::finish`].
#[must_use = "without `finish` the request has no response"]
pub struct PostBody {
    exchange: ExchangeId,
    machine: ServerId,
    channel: Channel,
    post: OwnedPost,
    body: OwnedMessages<Vec<u8>>,
}

impl PostBody {
    /// The messages of the body.
    pub fn messages(&self) -> Messages<'_> {
        self.body.messages()
    }

    /// The machine that they are for.
    pub const fn machine(&self) -> ServerId {
        self.machine
    }
}

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
        let id = ExchangeId(self.next_id());
        let mut exchange = Exchange::new(principal.map(Box::from), has_body(head));
        if let Field::One(origin) = head.field("origin")
            && self.endpoint.access.allows_origin(origin)
        {
            exchange.share(origin);
        }
        let opening = self.endpoint.open(head);
        if let Ok(Opening::Preflight) = opening {
            exchange.allow(head, self.endpoint.methods());
        }
        self.exchanges.insert(id, exchange);
        match opening {
            Ok(Opening::Post(post)) => self.await_body(now, id, &post),
            Ok(Opening::Get(get)) => match self.listen(now, id, &get, principal) {
                Ok((machine, reader)) => self.respond_with_events(now, id, machine, reader),
                Err(refusal) => self.refuse(id, refusal),
            },
            Ok(Opening::Delete(session)) => match self.session(session, principal) {
                Ok(machine) => {
                    self.end(now, machine);
                    self.respond(id, ResponseHead::no_content(), Vec::new());
                }
                Err(refusal) => self.refuse(id, refusal),
            },
            Ok(Opening::Preflight) => self.respond(id, ResponseHead::no_content(), Vec::new()),
            Err(refusal) => self.refuse(id, refusal),
        }
        id
    }

    /// Returns true if the body of this request is to be read. If it is not, a body that may follow
    /// is not looked at, and the connection must be closed after the response.
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
            self.refuse_body(exchange, Refusal::BodyTooLong(limit));
        } else if all > self.options.bodies {
            let reason = "there are too many long bodies under way";
            self.refuse_body(exchange, Refusal::Unavailable(reason));
        } else {
            text.extend_from_slice(bytes);
            self.body_bytes = all;
        }
    }

    /// The body has ended. Returns it, parsed, for [`receive`](Self::receive); `None` if the exchange has its response.
    /// `session_id` is called if the body may open a session. It returns an id that cannot be guessed, of visible ASCII
    /// characters (SH-28): 128 random bits in hexadecimal digits, for example.
    pub fn end_body(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        session_id: impl FnOnce() -> String,
    ) -> Option<PostBody> {
        let found = self.exchanges.get_mut(&exchange)?;
        let (post, text) = found.take_body()?;
        let principal = found.principal.take();
        self.deadlines
            .arm(Due::Exchange(exchange), &mut found.due, None);
        self.body_bytes = self.body_bytes.saturating_sub(text.len());
        let body = OwnedMessages::parse(text, self.prepared.limits.depth);
        let stream = self
            .machine_for(now, (&post.as_post(), principal), &body, session_id)
            .and_then(|machine| Ok((machine, self.open_stream(now, exchange, machine, &body)?)));
        match stream {
            Ok((machine, reader)) => {
                let channel = reader.channel();
                if let Some(found) = self.exchanges.get_mut(&exchange) {
                    let status = PostStatus::default();
                    found.state = State::Posted {
                        machine,
                        reader,
                        status,
                    };
                }
                Some(PostBody {
                    exchange,
                    machine,
                    channel,
                    post,
                    body,
                })
            }
            Err(refusal) => {
                self.refuse(exchange, refusal);
                None
            }
        }
    }

    /// Passes a message of a body to its machine. An event borrows from the body; the application may answer it at once or
    /// later. Answers of the core are written, so the action is never [`Action::Reply`].
    pub fn receive<'b>(
        &mut self,
        now: Instant,
        body: &PostBody,
        incoming: Incoming<'b>,
    ) -> Action<Event<'b>, Infallible> {
        // The session may be over since the body arrived.
        let (mut verdict, mut ignored) = (
            Some(IgnoreReason::Closed.http_status()),
            Some(IgnoreReason::Closed),
        );
        let mut event = None;
        self.mark(body.machine);
        if let Some(entry) = self.machines.get_mut(&body.machine) {
            let post = body.post.as_post();
            let source = Source::post(body.channel, &post);
            let look = |action: &Action<_, _>| {
                verdict = action.http_status();
                ignored = match action {
                    Action::Ignore(why) => Some(*why),
                    _ => None,
                };
            };
            let mut conversation = entry.conversation(&mut self.outbox);
            event = conversation.handle(now, &source, incoming, look);
            if let Some(event) = &event {
                entry.note(event);
            }
        }
        if let Some(exchange) = self.exchanges.get_mut(&body.exchange)
            && let State::Posted { status, .. } = &mut exchange.state
        {
            status.note(&incoming, verdict);
        }
        match (event, ignored) {
            (Some(event), _) => Action::Event(event),
            (None, Some(why)) => Action::Ignore(why),
            (None, None) => Action::Done,
        }
    }

    /// The machine had all messages of this body. Call [`step`](Self::step) afterwards.
    pub fn finish(&mut self, now: Instant, body: PostBody) {
        let (id, machine) = (body.exchange, body.machine);
        let posted = match self.exchanges.get(&id).map(|exchange| &exchange.state) {
            Some(State::Posted { status, .. }) => Some(*status),
            _ => None,
        };
        if let (Some(entry), Some(status)) = (self.machines.get_mut(&machine), posted) {
            entry.used = now;
            // The answers to an array follow from state.
            entry.conversation(&mut self.outbox).flush(now);
            entry.streams().handled(body.channel, status);
        }
        let session = self.open_session(now, machine, posted.is_some());
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        match session {
            Ok(session) => exchange.session = session,
            Err(refusal) => return self.refuse_reader(now, id, refusal),
        }
        if let Some(entry) = self.machines.get(&machine)
            && entry.is_alone()
        {
            let due = now + self.options.keep_alive;
            self.deadlines
                .arm(Due::Exchange(id), &mut exchange.due, Some(due));
        }
        self.decide(now, id);
    }

    /// Answers a request whose body is not read to its end.
    pub(super) fn refuse_body(&mut self, id: ExchangeId, refusal: Refusal) {
        if let Some(exchange) = self.exchanges.get(&id)
            && let State::Receiving { text, .. } = &exchange.state
        {
            self.body_bytes = self.body_bytes.saturating_sub(text.len());
        }
        self.refuse(id, refusal);
    }

    fn await_body(&mut self, now: Instant, id: ExchangeId, post: &Post<'_>) {
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
    ) -> Result<(ServerId, StreamReader), Refusal> {
        let machine = self.session(get.session, principal)?;
        let entry = self
            .machines
            .get_mut(&machine)
            .ok_or(Refusal::SessionUnknown)?;
        entry.used = now;
        let reader = entry.streams().attach(get.last_event_id)?;
        // A client may forget the id that it resumed from, so it is given one in each stream.
        if entry.primes() {
            entry.streams().prime(reader.channel());
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
    fn session(&self, id: SessionId<'_>, principal: Option<&str>) -> Result<ServerId, Refusal> {
        let machine = self.sessions.get(id.as_str()).copied();
        let own = |machine: &ServerId| {
            let entry = self.machines.get(machine);
            entry.is_some_and(|entry| entry.principal.as_deref() == principal)
        };
        machine.filter(own).ok_or(Refusal::SessionUnknown)
    }

    /// The machine that a body is for.
    fn machine_for(
        &mut self,
        now: Instant,
        (post, principal): (&Post<'_>, Option<Box<str>>),
        body: &OwnedMessages<Vec<u8>>,
        session_id: impl FnOnce() -> String,
    ) -> Result<ServerId, Refusal> {
        let (server, kind) = match self.endpoint.route_body(post, body) {
            Route::Refuse(refusal) => return Err(refusal),
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
                    return Err(Refusal::Unavailable(reason));
                }
                let id = session_id();
                if !self.is_free(&id) {
                    return Err(NO_ID);
                }
                let id = Box::from(id);
                let server = Server::with_room(self.prepared.clone(), Growing);
                (server, Kind::Handshake(id))
            }
            _ if self.alone >= self.options.exchanges => {
                let reason = "there are as many requests under way as there may be";
                return Err(Refusal::Unavailable(reason));
            }
            Route::Stateless(revision) => {
                let snapshot = SessionSnapshot::stateless(revision);
                let mut server = Server::with_room(self.prepared.clone(), Growing);
                server.resume(now, &snapshot);
                (server, Kind::Exchange)
            }
            // A handshake that opens no session is an exchange like others.
            Route::Modern | Route::Initialize => {
                // One POST is one request, so its table has one place.
                let server = Server::with_in_flight(self.prepared.clone(), 1, Growing);
                (server, Kind::Exchange)
            }
        };
        let id = ServerId(self.next_id());
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
        body: &OwnedMessages<Vec<u8>>,
    ) -> Result<StreamReader, Refusal> {
        let entry = self
            .machines
            .get_mut(&machine)
            .ok_or(Refusal::SessionUnknown)?;
        match entry.streams().open_for(body) {
            Ok(reader) => {
                entry.attach(reader.channel(), id);
                Ok(reader)
            }
            Err(refusal) => {
                // A machine that was made for this body has no other use.
                if entry.session().is_none() {
                    self.end(now, machine);
                }
                Err(refusal)
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
    ) -> Result<Option<Box<str>>, Refusal> {
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
                true => Err(NO_ID),
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

    /// Returns true if a session can have this id.
    fn is_free(&self, id: &str) -> bool {
        SessionId::new(id.as_bytes()).is_some() && !self.sessions.contains_key(id)
    }
}

/// Returns true if a body follows the head.
fn has_body(head: &(impl Head + ?Sized)) -> bool {
    let is_empty = matches!(head.field("content-length"), Field::None | Field::One(b"0"));
    !is_empty || head.field("transfer-encoding") != Field::None
}

impl fmt::Debug for PostBody {
    /// Without the text, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostBody")
            .field("exchange", &self.exchange)
            .field("machine", &self.machine)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

const NO_ID: Refusal = Refusal::Unavailable("the server has no id for the session");
