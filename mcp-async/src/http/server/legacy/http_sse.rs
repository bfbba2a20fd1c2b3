//! The two endpoints of 2024-11-05: a GET opens a stream and with it a session, and tells where
//! to POST to.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http_body::Body;
use mcp_proto::http::{
    Endpoint, HttpSseEndpoint, HttpSseOpening, OwnedPost, Post, ResponseHead, Version,
};
use mcp_proto::server::http::streams::Delivery;
use mcp_proto::{Channel, Outgoing as _};

use super::CROWDED;
use super::reading::Reading;
use super::session_task::SessionTask;
use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::endpoint::http_sse_paths::HttpSsePaths;
use crate::http::server::endpoint::session::{Posted, Session};
use crate::http::server::endpoint::sessions::mint;
use crate::http::server::exchange::caller::owner;
use crate::http::server::messages::answer::{self, Answer, FLOODED, no_session};
use crate::http::server::messages::body::HttpBody;
use crate::http::server::messages::collect::Broken;
use crate::http::server::messages::head::RequestHead;
use crate::http::server::processes::sharing::FIRST;
use crate::server::ServerStreams;

impl HttpEndpoint {
    /// Answers a request to one of the two endpoints.
    pub(in crate::http::server) async fn http_sse<B: Body>(
        &self,
        both: &HttpSsePaths,
        parts: &Arc<Parts>,
        body: &mut Option<B>,
    ) -> Answer {
        let at = match parts.uri.path() == both.stream {
            true => HttpSseEndpoint::Stream,
            false => HttpSseEndpoint::Messages,
        };
        let endpoint = Endpoint {
            path: None,
            ..self.endpoint()
        };
        match endpoint.open_http_sse(at, &RequestHead(parts)) {
            Err(refusal) => answer::refusal(refusal, at.methods()),
            Ok(HttpSseOpening::Preflight) => answer::preflight(parts, at.methods()),
            Ok(HttpSseOpening::Request)
                if let Some(refused) =
                    self.count_messages(parts, self.caller(parts).as_ref(), 1) =>
            {
                refused
            }
            Ok(HttpSseOpening::Request) if self.is_closing() => answer::closing(),
            Ok(HttpSseOpening::Request) => match at {
                HttpSseEndpoint::Stream => self.open_sse(parts, &both.reference),
                HttpSseEndpoint::Messages => self.sse_post(parts, body).await,
            },
        }
    }

    /// A new session, which ends with its stream (HS-10).
    fn open_sse(&self, parts: &Arc<Parts>, reference: &str) -> Answer {
        let Some(place) = self.place(parts) else {
            return answer::busy("there are as many sessions as there may be");
        };
        let Some(token) = mint() else {
            return answer::busy("the operating system has no random numbers");
        };
        let unread = self.unread.part(self.caller(parts));
        let streams = ServerStreams::new(Delivery::HttpSse, self.options.streams, unread);
        let conversation = self.session_connection(parts, streams, self.machine(parts));
        let reader = match conversation.streams(|streams| streams.attach(None)) {
            Some(Ok(reader)) => reader,
            Some(Err(refusal)) => return answer::refusal(refusal, ""),
            None => return no_session(),
        };
        let shared = Arc::clone(conversation.shared());
        let session = Session::new(Arc::clone(&token), owner(parts), FIRST, 0, shared);
        session.keep_calls(self.calls.empty(self.caller(parts)));
        let reading = Reading::new(Arc::clone(&session), reader);
        self.sse_sessions.insert(&session);
        place.belongs_to(&session);
        self.live(SessionTask {
            session,
            conversation,
            sessions: Arc::clone(&self.sse_sessions),
            idle: self.options.limits.session_idle,
            ends_with_stream: true,
            leaving: None,
            leave_by: None,
            forgotten: false,
            store_writer: None,
            handled: Vec::new(),
            _place: place,
        });
        let first = Bytes::from(format!("event: endpoint\ndata: {reference}?c={token}\n\n"));
        let events = reading.events(&self.runtime, self.options.keep_alive, first);
        answer::events(HttpBody::events(Box::new(events)))
    }

    /// A message for a session; what there is to answer comes on its stream (HS-06).
    async fn sse_post<B: Body>(&self, parts: &Arc<Parts>, body: &mut Option<B>) -> Answer {
        let query = parts.uri.query().unwrap_or_default();
        let token = query.split('&').find_map(|pair| pair.strip_prefix("c="));
        let session = token.and_then(|token| self.sse_sessions.find(token.as_bytes()));
        let owner = owner(parts);
        let Some(session) = session.filter(|it| it.is_open_to(owner.as_deref())) else {
            return no_session();
        };
        let caller = self.caller(parts);
        let collected = match body.take() {
            Some(body) => self.collect(parts, caller.clone(), body).await,
            None => Err(Broken::Unreadable),
        };
        let body = match collected {
            Ok(body) => self.parse(body),
            Err(broken) => return self.unread(broken),
        };
        if let Some(refused) = self.refuse(parts, caller.as_ref(), &body) {
            return refused;
        }
        // Answers wait for their reader: who does not read them may ask for no more.
        match session.streams(|streams| streams.has_room(Channel::PIPE)) {
            // It may have ended while the body arrived.
            _ if session.is_deleted() => return no_session(),
            Some(true) => {}
            Some(false) => return answer::busy("what is on the stream was not read"),
            None => return no_session(),
        }
        if !session.add_calls(self.places_of(&body)) {
            return answer::busy(CROWDED);
        }
        if let Err(refusal) = HttpSseEndpoint::check_body(&body) {
            return answer::refusal(refusal, "");
        }
        let post = Post {
            version: Version::Absent,
            session: None,
            method: None,
            name: None,
        };
        let posted = Posted {
            channel: Channel::PIPE,
            post: OwnedPost::new(&post),
            head: Arc::clone(parts),
            body,
        };
        match session.post(posted, self.options.limits.body) {
            true => answer::empty(ResponseHead::accepted()),
            false => answer::busy(FLOODED),
        }
    }
}
