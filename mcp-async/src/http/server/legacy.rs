//! Requests of the revisions with sessions.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use mcp_proto::http::{Get, Post, SessionId};
use mcp_proto::rpc::{Incoming, Message, Messages};
use mcp_proto::server::http::streams::{Delivery, TooManyStreams};
use mcp_proto::{Channel, Source};

use super::answer::{self, Answer, FLOODED, no_session};
use super::body::HttpBody;
use super::caller::owner;
use super::capacity::Place;
use super::conversation::Conversation;
use super::endpoint::HttpEndpoint;
use super::exchange::Exchange;
use super::reading::Reading;
use super::session::{Posted, Session};
use super::session_task::SessionTask;
use super::sessions::mint;
use super::sharing::{FIRST, Saved};
use super::store_writer::StoreWriter;
use super::streams::{SessionStreams, Verdict};
use super::takeover::MOVING;
use crate::connection::Text;
use crate::runtime::Runtime;

impl<R: Runtime> HttpEndpoint<R> {
    /// Opens a session, if the answer to `initialize` does.
    pub(super) async fn initialize(
        &self,
        parts: &Arc<Parts>,
        post: &Post<'_>,
        text: &Text,
    ) -> Answer {
        let Some(place) = self.place(parts) else {
            return answer::busy("there are as many sessions as there may be");
        };
        let Some(id) = mint() else {
            return answer::busy("the operating system has no random numbers");
        };
        let streams = self.new_streams();
        let mut conversation = self.session_connection(parts, streams, self.machine(parts));
        let posted = conversation.with(|core| SessionStreams::of(core).map(SessionStreams::open));
        let Some(Ok(reader)) = posted else {
            return answer::busy("there are too many streams");
        };
        let source = Source::post(reader.channel(), post);
        let now = conversation.now();
        let status = conversation.take_in(now, &source, parts, text, self.depth());
        conversation.turn(now);
        let (answer, opened) = conversation.with(|core| {
            let streams = SessionStreams::of(core);
            let answer = streams.and_then(|streams| {
                let answer = streams.single(&reader);
                streams.detach(&reader);
                answer
            });
            (answer, core.machine.revision().is_some())
        });
        let mut answer = match (answer, status) {
            (Some((status, message)), _) => answer::message(status, message),
            (None, Some(status)) => answer::status(status),
            (None, None) => answer::empty(StatusCode::INTERNAL_SERVER_ERROR),
        };
        let Ok(name) = HeaderValue::try_from(&*id) else {
            return answer;
        };
        if opened {
            let saved = self.save_first(&id, &conversation, owner(parts));
            let (saved, lease) = match saved.await {
                Ok(saved) => saved,
                Err(answer) => return answer,
            };
            let shared = Arc::clone(conversation.shared());
            let session = Session::new(id, owner(parts), FIRST, lease, shared);
            self.begin(session, conversation, place, saved);
            answer.headers_mut().insert(SESSION, name);
        }
        answer
    }

    /// Registers a session unless another request registered it first; returns the registered one.
    pub(super) fn begin(
        &self,
        session: Arc<Session>,
        conversation: Conversation<R>,
        place: Place,
        saved: Option<Saved>,
    ) -> Arc<Session> {
        if let Some(found) = self.sessions.insert(&session) {
            return found;
        }
        place.belongs_to(&session);
        let store_writer = self.processes.as_ref().map(|processes| {
            let now = self.clock.now();
            StoreWriter::new(processes, &session, self.idle(), saved, now)
        });
        self.live(SessionTask {
            session: Arc::clone(&session),
            conversation,
            sessions: Arc::clone(&self.sessions),
            idle: self.idle(),
            depth: self.depth(),
            ends_with_stream: false,
            leaving: None,
            leave_timer: None,
            forgotten: false,
            store_writer,
            handled: Vec::new(),
            _place: place,
        });
        session
    }

    /// Lets a session live that can be found.
    pub(super) fn live(&self, mut task: SessionTask<R>) {
        self.server.connected(task.conversation.peer());
        task.conversation.leaves(&self.leave);
        if self.is_closing() {
            task.session.shutdown();
        }
        R::spawn(Box::pin(task));
    }

    /// The streams of a session, with nothing on them.
    pub(super) fn new_streams(&self) -> SessionStreams {
        let streams = SessionStreams::new(Delivery::Resumable, self.options.streams);
        match self.processes {
            Some(_) => streams.stored(),
            None => streams,
        }
    }

    /// Messages for a session.
    pub(super) async fn session_post(
        &self,
        parts: &Arc<Parts>,
        id: SessionId<'_>,
        post: &Post<'_>,
        body: Vec<u8>,
    ) -> Answer {
        let session = match self.session(parts, id, &body).await {
            Ok(session) => session,
            Err(answer) => return answer,
        };
        if self.is_closing() && self.asks(&body) {
            return answer::closing();
        }
        let place = self.calls.take(self.caller(parts));
        // What asks for nothing, a cancellation say, needs none.
        if place.is_none() && self.asks(&body) {
            return answer::busy(CROWDED);
        }
        let opened = session.streams(|streams| {
            let reader = streams.open()?;
            streams.hold(&reader, place);
            Ok::<_, TooManyStreams>(reader)
        });
        let reader = match opened {
            Some(Ok(reader)) => reader,
            Some(Err(full)) => return answer::busy(&full.to_string()),
            None => return over(&session),
        };
        let channel = reader.channel();
        let reading = Reading::new(Arc::clone(&session), reader);
        let posted = Posted::new(channel, post, Arc::clone(parts), body);
        if !session.post(posted, self.max_body_bytes()) {
            session.streams(|streams| streams.release(channel));
            return answer::busy(FLOODED);
        }
        match reading.verdict().await {
            Some(Verdict::Handled(None)) => self.stream(&session, reading),
            Some(Verdict::Handled(Some(status))) => answer::status(status),
            Some(Verdict::Unserved) => answer::busy(MOVING),
            Some(Verdict::Unsaved) => answer::busy(UNSAVED),
            None => over(&session),
        }
    }

    /// Whether there is a request in a body.
    fn asks(&self, body: &[u8]) -> bool {
        Messages::new(body, self.depth())
            .any(|incoming| matches!(incoming, Incoming::Message(Message::Request(_))))
    }

    /// What there is to answer, at once or as events.
    fn stream(&self, session: &Session, reading: Reading) -> Answer {
        if let Some((status, message)) = reading.single() {
            return answer::message(status, message);
        }
        if session.polls() {
            reading.prime();
        }
        let events = reading.events(self.clock, self.options.keep_alive, Bytes::new());
        answer::events(HttpBody::events(events))
    }

    /// A stream of a session: its own, or the one that is resumed.
    pub(super) async fn get(&self, parts: &Arc<Parts>, get: &Get<'_>) -> Answer {
        let session = match self.session(parts, get.session, &[]).await {
            Ok(session) => session,
            Err(answer) => return answer,
        };
        session.touch();
        let reader = match self.attach(&session, get.last_event_id).await {
            Some(Ok(reader)) => reader,
            Some(Err(refusal)) => return answer::refusal(refusal, self.endpoint().methods()),
            None => return over(&session),
        };
        // The previous reader is notified.
        session.wake();
        let reading = Reading::new(Arc::clone(&session), reader);
        session.was_read();
        // A client may forget the id that it resumed from, so it is given one in each stream.
        if session.polls() {
            reading.prime();
        }
        let events = reading.events(self.clock, self.options.keep_alive, Bytes::new());
        answer::events(HttpBody::events(events))
    }

    /// The client ends its session.
    pub(super) async fn delete(&self, parts: &Arc<Parts>, id: SessionId<'_>) -> Answer {
        // Another process may take it over while it ends here: then it is taken back, once.
        for _ in 0..2 {
            let session = match self.session(parts, id, &[]).await {
                Ok(session) => session,
                Err(answer) => return answer,
            };
            if !session.delete() {
                return no_session();
            }
            if session.gone().await {
                return answer::empty(StatusCode::NO_CONTENT);
            }
        }
        answer::busy("the session could not be ended")
    }

    /// A legacy message to a server without sessions: it stands for itself (SH-32).
    pub(super) async fn stateless(
        &self,
        parts: &Arc<Parts>,
        post: &Post<'_>,
        text: &Text,
        revision: mcp_proto::Revision,
    ) -> Answer {
        let snapshot = mcp_proto::server::SessionSnapshot::stateless(revision);
        let conversation = self.exchange_connection(parts, self.resumed(parts, &snapshot));
        let source = Source::post(Channel::new(1), post);
        self.exchange(conversation, parts, &source, text).await
    }

    /// The session of this id, if it belongs to the caller and to this process. If the process that
    /// owns it is dead, it is taken over; if it lives, the answer is that process's.
    async fn session(
        &self,
        parts: &Arc<Parts>,
        id: SessionId<'_>,
        body: &[u8],
    ) -> Result<Arc<Session>, Answer> {
        let owner = owner(parts);
        let may_use =
            |session: &Session| session.belongs_to(owner.as_deref()) && !session.is_deleted();
        if let Some(session) = self.sessions.find(id.as_str()) {
            if !may_use(&session) {
                return Err(no_session());
            }
            if self.is_owned(&session).await? {
                return Ok(session);
            }
        }
        self.forward_to_owner(parts, id.as_str(), body).await?;
        let found = self.take_over(parts, id.as_str()).await?;
        found
            .filter(|session| may_use(session))
            .ok_or_else(no_session)
    }

    /// The messages of a body that belong to no session, and the answer to them.
    pub(super) async fn exchange(
        &self,
        mut conversation: Conversation<R>,
        parts: &Arc<Parts>,
        source: &Source<'_>,
        text: &Text,
    ) -> Answer {
        let now = conversation.now();
        if let Some(status) = conversation.take_in(now, source, parts, text, self.depth()) {
            return answer::status(status);
        }
        let mut exchange = Exchange::new(conversation, now, self.options.keep_alive);
        if let Some(answer) = exchange.begin(now) {
            return answer;
        }
        match self.goes_on(&mut exchange, parts) {
            true => exchange.answer().await,
            false => answer::busy(FULL),
        }
    }
}

/// A session that a request found is over. If its client has not ended it, another process may have it, or
/// will.
fn over(session: &Session) -> Answer {
    match session.may_continue() {
        true => answer::busy(MOVING),
        false => no_session(),
    }
}

const CROWDED: &str = "there are as many requests under way as there may be";
const FULL: &str = "there are as many requests under way as there may be: the request may have run";

const UNSAVED: &str = "the store did not take what the request changed: it has run";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
