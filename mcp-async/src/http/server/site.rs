//! From a request to what answers it.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::ORIGIN;
use http::request::Parts;
use http::{Request, StatusCode};
use http_body::Body;
use mcp_proto::http::{Endpoint, Opening, Post};
use mcp_proto::rpc::{Incoming, Message, code};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Channel, Revision, RevisionSet, Source, Why};

use super::answer::{self, Answer};
use super::builder::Options;
use super::collect::{Broken, collect};
use super::conversation::{Beginning, Conversation};
use super::exchange::{self, Begun};
use super::exit::Way;
use super::head::RequestHead;
use super::principal::Principal;
use crate::driver::LARGE;
use crate::runtime::Runtime;
use crate::server::builder::Server;
use crate::server::{Peer, WeakPeer};

/// Everything of one endpoint.
pub(super) struct Site<R: Runtime> {
    server: Server<R>,
    options: Options,
    endpoint: Endpoint<'static>,
    clock: R,
    /// Exchanges that go on, to be told of the end.
    streams: Mutex<Vec<WeakPeer>>,
    closing: AtomicBool,
}

impl<R: Runtime> Site<R> {
    pub(super) fn new(server: Server<R>, options: Options) -> Self {
        let endpoint = Endpoint {
            path: options.path,
            access: options.access(),
            revisions: RevisionSet::at_least(Revision::V2026_07_28),
            sessions: false,
        };
        Self {
            server,
            options,
            endpoint,
            clock: R::default(),
            streams: Mutex::default(),
            closing: AtomicBool::new(false),
        }
    }

    pub(super) async fn serve<B: Body + Send>(&self, request: Request<B>) -> Answer {
        let (parts, body) = request.into_parts();
        let head = RequestHead(&parts);
        let mut answer = match self.endpoint.open(&head) {
            Ok(_) if self.closing.load(Ordering::SeqCst) => {
                answer::busy("the server is shutting down")
            }
            Ok(Opening::Post(post)) => self.post(&parts, &post, body).await,
            Ok(Opening::Preflight) => answer::preflight(&parts, self.endpoint.methods()),
            Ok(_) => answer::refusal(mcp_proto::http::Refusal::Method, "POST"),
            Err(refusal) => answer::refusal(refusal, self.endpoint.methods()),
        };
        if let Some(origin) = parts.headers.get(ORIGIN)
            && self.endpoint.access.allows_origin(origin.as_bytes())
        {
            answer::share(&mut answer, origin);
        }
        answer
    }

    pub(super) fn shutdown(&self) {
        self.closing.store(true, Ordering::SeqCst);
        let streams = core::mem::take(&mut *self.streams());
        streams
            .iter()
            .filter_map(WeakPeer::upgrade)
            .for_each(|peer| peer.shutdown());
    }

    async fn post<B: Body>(&self, parts: &Parts, post: &Post<'_>, body: B) -> Answer {
        let limits = self.server.config().limits;
        let limit = self.options.max_body.unwrap_or(limits.body);
        let patience = self.options.body_timeout;
        match collect(body, limit, patience, &self.clock).await {
            Ok(body) => self.exchange(parts, post, body),
            Err(Broken::TooLong) => answer::error(
                StatusCode::PAYLOAD_TOO_LARGE,
                code::INVALID_REQUEST,
                &format!("the body is longer than {limit} bytes"),
            ),
            Err(Broken::Late) => answer::error(
                StatusCode::REQUEST_TIMEOUT,
                code::INVALID_REQUEST,
                "the body did not come in time",
            ),
            Err(Broken::Unreadable) => answer::error(
                StatusCode::BAD_REQUEST,
                code::PARSE_ERROR,
                "the body could not be read",
            ),
        }
    }

    /// A request that needs no session.
    fn exchange(&self, parts: &Parts, post: &Post<'_>, body: Vec<u8>) -> Answer {
        let config = ServerConfig {
            revisions: self.endpoint.revisions,
            ..self.server.config()
        };
        let source = Source::post(Channel::new(1), post);
        let mut conversation = Conversation::new(Beginning {
            config,
            service: self.server.service(),
            keys: self.server.sealed_with(),
            principal: principal(parts),
            clock: self.clock,
            grace: self.options.grace,
            way: Way::exchange(self.options.unread),
        });
        // A handler that keeps a part of a large message keeps the message instead of a copy.
        let (large, small);
        let (text, frame) = if body.len() >= LARGE {
            large = Arc::new(body);
            (large.as_slice(), Some(&large))
        } else {
            small = body;
            (small.as_slice(), None)
        };
        let message = Message::parse(text, config.limits.depth);
        let is_request = matches!(message, Message::Request(_));
        let ignored = conversation.handle(&source, Incoming::Message(message), frame);
        if let Some(why) = ignored
            && !is_request
        {
            return answer::empty(match why {
                Why::Malformed | Why::Garbage => StatusCode::BAD_REQUEST,
                _ => StatusCode::ACCEPTED,
            });
        }
        match exchange::begin(conversation) {
            Begun::Answered(answer) => answer,
            Begun::Silent => answer::empty(StatusCode::ACCEPTED),
            Begun::Goes(conversation) => {
                self.goes_on(conversation.peer());
                exchange::stream(conversation, self.options.keep_alive)
            }
        }
    }

    /// An exchange takes longer: it is to hear of the end.
    fn goes_on(&self, peer: &Peer) {
        let mut streams = self.streams();
        if streams.len() == streams.capacity() {
            streams.retain(WeakPeer::is_alive);
            // Room for as many again: looking through them costs each a constant.
            let len = streams.len();
            streams.reserve(len.max(16));
        }
        streams.push(peer.downgrade());
        drop(streams);
        if self.closing.load(Ordering::SeqCst) {
            peer.shutdown();
        }
    }

    fn streams(&self) -> MutexGuard<'_, Vec<WeakPeer>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who sends the request, where somebody has looked.
fn principal(parts: &Parts) -> Option<Arc<str>> {
    let Principal(name) = parts.extensions.get()?;
    Some(Arc::clone(name))
}
