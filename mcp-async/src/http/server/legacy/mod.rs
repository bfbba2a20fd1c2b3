//! Requests of the revisions with sessions.

pub(super) mod http_sse;
pub(super) mod reading;
pub(super) mod session_task;
pub(super) mod store_writer;
pub(super) mod takeover;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use mcp_proto::Source;
use mcp_proto::http::{Get, OwnedPost, Post, Refusal, ResponseHead, SessionId};
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::server::http::streams::{Delivery, StreamResponse};

use self::reading::Reading;
use self::session_task::SessionTask;
use self::store_writer::StoreWriter;
use self::takeover::MOVING;
use super::endpoint::HttpEndpoint;
use crate::connection::Text;
use crate::http::server::endpoint::capacity::Place;
use crate::http::server::endpoint::session::{Posted, Session};
use crate::http::server::endpoint::sessions::mint;
use crate::http::server::exchange::caller::owner;
use crate::http::server::exchange::conversation::ServedConversation;
use crate::http::server::messages::answer::{self, Answer, CLOSING, FLOODED, no_session};
use crate::http::server::messages::body::HttpBody;
use crate::http::server::processes::sharing::{FIRST, Saved};
use crate::server::ServerStreams;
use crate::shares::CallerId;

impl HttpEndpoint {
    /// Opens a session, if the answer to `initialize` does.
    pub(super) async fn initialize(
        &self,
        parts: &Arc<Parts>,
        post: &Post<'_>,
        body: &OwnedMessages<Text>,
    ) -> Answer {
        let Some(place) = self.place(parts) else {
            return answer::busy("there are as many sessions as there may be");
        };
        let Some(id) = mint() else {
            return answer::busy("the operating system has no random numbers");
        };
        let streams = self.new_streams(parts);
        let mut conversation = self.session_connection(parts, streams, self.machine(parts));
        let Some(Ok(reader)) = conversation.streams(ServerStreams::open) else {
            return answer::busy("there are too many streams");
        };
        let source = Source::post(reader.channel(), post);
        let now = conversation.now();
        let status = conversation.take_in(now, &source, parts, body);
        conversation.turn(now);
        let response = conversation.streams(|streams| {
            streams.handled(reader.channel(), status);
            let response = streams.response(&reader, false);
            streams.detach(&reader);
            response
        });
        let opened = conversation.with(|core| core.machine.revision().is_some());
        let mut answer = response
            .and_then(answer::decided)
            .unwrap_or_else(|| answer::busy("`initialize` has no answer yet"));
        // The client could not end a session whose id it does not learn.
        let is_told = self.count_unread(parts, &mut answer);
        if opened && is_told {
            let saved = self.save_first(&id, &conversation, owner(parts), place);
            let (saved, lease, place) = match saved.await {
                Ok(saved) => saved,
                Err(answer) => return answer,
            };
            let shared = Arc::clone(conversation.shared());
            let session = Session::new(Arc::clone(&id), owner(parts), FIRST, lease, shared);
            self.begin(session, conversation, place, saved);
            answer::open_session(&mut answer, &id);
        }
        answer
    }

    /// Registers a session unless another request registered it first; returns the registered one.
    pub(super) fn begin(
        &self,
        session: Arc<Session>,
        conversation: ServedConversation,
        place: Place,
        saved: Option<Saved>,
    ) -> Arc<Session> {
        if let Some(found) = self.sessions.insert(&session) {
            return found;
        }
        place.belongs_to(&session);
        let store_writer = self.processes.as_ref().map(|processes| {
            let now = self.runtime.now();
            StoreWriter::new(
                processes,
                &session,
                self.options.limits.session_idle,
                saved,
                now,
            )
        });
        self.live(SessionTask {
            session: Arc::clone(&session),
            conversation,
            sessions: Arc::clone(&self.sessions),
            idle: self.options.limits.session_idle,
            ends_with_stream: false,
            leaving: None,
            leave_by: None,
            forgotten: false,
            store_writer,
            handled: Vec::new(),
            _place: place,
        });
        session
    }

    /// Lets a session live that can be found.
    fn live(&self, mut task: SessionTask) {
        let info = &task.conversation.shared().peer_info;
        let _ = info.session_id.set(Arc::clone(task.session.id()));
        self.server.inner.connected(task.conversation.peer());
        task.conversation.leaves(&self.leave);
        if self.is_closing() {
            task.session.shutdown();
        }
        let session = Arc::clone(&task.session);
        session.task.spawn(&self.runtime, Box::pin(task));
    }

    /// The streams of a session, with nothing on them.
    pub(super) fn new_streams(&self, parts: &Parts) -> ServerStreams {
        let (limits, unread) = (self.options.streams, self.unread.part(self.caller(parts)));
        match self.processes {
            Some(_) => ServerStreams::stored(limits, unread),
            None => ServerStreams::new(Delivery::Resumable, limits, unread),
        }
    }

    /// Messages for a session, which is [found](Self::session) before. Returns the reader of what answers them.
    pub(super) fn session_post(
        &self,
        parts: &Arc<Parts>,
        caller: Option<CallerId>,
        session: &Arc<Session>,
        post: &Post<'_>,
        body: OwnedMessages<Text>,
    ) -> Result<Reading, Refusal> {
        if self.is_closing() && body.requests() > 0 {
            return Err(Refusal::Unavailable(CLOSING));
        }
        // Messages that end at once, such as a cancellation, need no place.
        let Some(places) = self.calls.take_all(caller, self.places_of(&body)) else {
            return Err(Refusal::Unavailable(CROWDED));
        };
        let opened = session.streams(|streams| {
            let reader = streams.open_for(&body)?;
            streams.hold(&reader, places);
            Ok::<_, Refusal>(reader)
        });
        let reader = match opened {
            Some(Ok(reader)) => reader,
            Some(Err(refusal)) => return Err(refusal),
            None => return Err(over(session)),
        };
        let channel = reader.channel();
        let reading = Reading::new(Arc::clone(session), reader);
        let posted = Posted {
            channel,
            // The session is found, and the machine does not compare its id.
            post: OwnedPost::new(&Post {
                session: None,
                ..*post
            }),
            head: Arc::clone(parts),
            body,
        };
        if !session.post(posted, self.options.limits.body) {
            session.streams(|streams| streams.release(channel));
            return Err(Refusal::Unavailable(FLOODED));
        }
        Ok(reading)
    }

    /// The response to messages for a session.
    pub(super) async fn session_response(
        &self,
        session: &Arc<Session>,
        mut reading: Reading,
    ) -> Answer {
        match reading.response().await {
            StreamResponse::Events => self.events(session, reading),
            decided => {
                answer::decided(decided).unwrap_or_else(|| answer::refusal(over(session), ""))
            }
        }
    }

    /// The events of a stream. A client may forget the id that it resumed from, so it is given one in each.
    fn events(&self, session: &Session, reading: Reading) -> Answer {
        if session.polls() {
            reading.prime();
        }
        let events = reading.events(&self.runtime, self.options.keep_alive, Bytes::new());
        answer::events(HttpBody::events(Box::new(events)))
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
            None => return answer::refusal(over(&session), ""),
        };
        // The previous reader is notified.
        session.wake();
        let reading = Reading::new(Arc::clone(&session), reader);
        session.was_read();
        self.events(&session, reading)
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
                return answer::empty(ResponseHead::no_content());
            }
        }
        answer::busy("the session could not be ended")
    }

    /// The session of this id, if it belongs to the caller and to this process. If the process that
    /// owns it is dead, it is taken over; if it lives, the answer is that process's.
    pub(super) async fn session(
        &self,
        parts: &Arc<Parts>,
        id: SessionId<'_>,
        body: &[u8],
    ) -> Result<Arc<Session>, Answer> {
        let owner = owner(parts);
        let may_use = |session: &Session| session.is_open_to(owner.as_deref());
        if let Some(session) = self.sessions.find(id.as_bytes()) {
            if !may_use(&session) {
                return Err(no_session());
            }
            if self.processes.is_none() || Box::pin(self.is_owned(&session)).await? {
                return Ok(session);
            }
        }
        if self.processes.is_none() {
            return Err(no_session());
        }
        Box::pin(self.forward_to_owner(parts, id.as_str(), body)).await?;
        let found = Box::pin(self.take_over(parts, id.as_str())).await?;
        found
            .filter(|session| may_use(session))
            .ok_or_else(no_session)
    }
}

/// A session that a request found is over. If its client has not ended it, another process may have it, or
/// will.
fn over(session: &Session) -> Refusal {
    match session.may_continue() {
        true => Refusal::Unavailable(MOVING),
        false => Refusal::SessionUnknown,
    }
}

pub(super) const CROWDED: &str = "there are as many requests under way as there may be";
