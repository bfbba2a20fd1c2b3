//! One message that leaves, and the response to it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::awaited::Awaited;
use super::error_body::{error_of, write_to_all};
use super::mirrored::mirrored;
use super::origin::Origin;
use super::passing::Passing;
use super::reply::{Body, ExchangeOutcome, HttpMethod, ReplyHead};
use super::retry::{Backoff, STEADY};
use super::retry_after;
use super::stray_requests;
use crate::client::Failure;
use crate::frame::sse;
use crate::http::media::{self, EVENT_STREAM, JSON};
use crate::json::{Raw, Str};
use crate::model::ProtocolMeta;
use crate::revision::{Http, Revision};
use crate::rpc::{Id, Incoming, Message, Method, OwnedMessages};
use crate::time::Instant;

/// One message on its way to the server, or an array of them, its reply or replies, and its resumptions.
///
/// ```
/// use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, Origin, ReplyHead};
/// use mcp_proto::rpc::{Message, OwnedMessages};
///
/// let mut origin = Origin::new();
/// let message = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
/// let mut exchange = Exchange::new(&origin, &Message::parse(message, 16));
/// let head = ReplyHead {
///     content_type: Some(b"application/json"),
///     session: Some(b"5f3a"),
///     ..ReplyHead::new(200)
/// };
/// assert_eq!(exchange.head(&mut origin, &head), Body::Json);
/// let body = OwnedMessages::parse(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 16);
/// let mut instead = Vec::new();
/// assert_eq!(exchange.answer(&mut origin, &body, &mut instead), ExchangeOutcome::Deliver);
/// // The machine takes the messages of the body.
/// assert!(instead.is_empty());
///
/// // The session goes with every request from now on.
/// let call = Message::parse(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#, 16);
/// let mut session = false;
/// Exchange::new(&origin, &call).fields(&origin, &call, &mut |name, value| {
///     session |= name == "mcp-session-id" && value == b"5f3a";
/// });
/// assert!(session);
/// ```
pub struct Exchange {
    pub(super) kind: Kind,
    /// The requests that it carries, until their answers have come.
    pub(super) awaited: Awaited,
    pub(super) epoch: u64,
    pub(super) session: Option<Box<str>>,
    /// The revision that the message names, or that rules the session.
    pub(super) revision: Option<Revision>,
    /// All answers have come.
    pub(super) answered: bool,
    /// The server has accepted the request: a stream can be lost, and resumed.
    pub(super) opened: bool,
    /// The next request asks for the rest of the answer.
    pub(super) resuming: bool,
    last_event_id: Vec<u8>,
    backoff: Backoff,
    /// The time for which the last attempt to resume the stream was scheduled.
    resumed: Option<Instant>,
    /// An event over the limit, while it passes.
    pub(super) oversized: Option<Box<Passing>>,
    /// Errors for the server that were not taken yet.
    refusals: Vec<Vec<u8>>,
    /// The delay that the last reply asked for before the next attempt.
    retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Discover,
    Initialize,
    /// Any other request.
    Request {
        lists_tools: bool,
    },
    /// A message that has no answer: a notification, or the answer to a question.
    Told,
    /// The server's own stream.
    Listen,
    /// The stream of a server of 2024-11-05, if it is one.
    ProbeHttpSse,
    Delete,
}

impl Exchange {
    /// The exchange of a message of ours.
    pub fn new(origin: &Origin, message: &Message<'_>) -> Self {
        let (kind, id, named) = match message {
            Message::Request(request) => {
                let kind = match request.method {
                    Method::ServerDiscover => Kind::Discover,
                    Method::Initialize => Kind::Initialize,
                    method => Kind::Request {
                        lists_tools: method == Method::ToolsList,
                    },
                };
                // One revision is in force at a time.
                let is_agreed = origin.revision.is_some_and(Revision::is_modern);
                let named = match kind {
                    Kind::Request { .. } if is_agreed => None,
                    Kind::Initialize => request.params.and_then(|it| it.get("protocolVersion")),
                    _ => request
                        .params
                        .and_then(|params| ProtocolMeta::of(params)?.version()),
                };
                let named = named.and_then(Raw::string).and_then(Str::revision);
                (kind, request.id.to_u64(), named)
            }
            _ => (Kind::Told, None, None),
        };
        Self {
            awaited: Awaited::one(id),
            // A notification of the modern era names no revision; there is one at a time.
            revision: named.or(origin.revision),
            ..Self::of(origin, kind)
        }
    }

    /// The exchange of an array of ours that contains requests, as [`Client::begin_batch`](crate::client::Client::begin_batch)
    /// gathers them; `None` for any other message.
    pub fn batch<T: AsRef<[u8]>>(origin: &Origin, message: &OwnedMessages<T>) -> Option<Self> {
        let mut messages = message.messages();
        if !matches!(messages.next(), Some(Incoming::BatchStart)) {
            return None;
        }
        let kind = Kind::Request { lists_tools: false };
        let ids = messages.filter_map(|element| match element {
            Incoming::Message(Message::Request(request)) => request.id.to_u64(),
            _ => None,
        });
        let exchange = Self {
            awaited: Awaited::of(ids),
            ..Self::of(origin, kind)
        };
        (!exchange.awaited.is_empty()).then_some(exchange)
    }

    fn of(origin: &Origin, kind: Kind) -> Self {
        Self {
            kind,
            awaited: Awaited::default(),
            epoch: origin.epoch,
            session: origin.session.clone(),
            revision: origin.revision,
            answered: false,
            opened: false,
            resuming: false,
            last_event_id: Vec::new(),
            backoff: Backoff::default(),
            resumed: None,
            oversized: None,
            refusals: Vec::new(),
            retry_after: None,
        }
    }

    /// The request that it carries, while its answer has not come; of an array one of those.
    pub fn id(&self) -> Option<u64> {
        self.ids().next()
    }

    /// The requests that it carries and whose answers have not come.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.awaited.iter()
    }

    /// Returns true if the answers to all requests of the exchange have come.
    pub const fn is_answered(&self) -> bool {
        self.answered
    }

    /// Returns true if the head of a reply has come that refuses nothing: the server has read the request, and may have done
    /// what it asks for.
    pub const fn is_begun(&self) -> bool {
        self.opened
    }

    /// The session that it was sent in, by its number.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the HTTP method of the exchange.
    pub const fn method(&self) -> HttpMethod {
        match self.kind {
            Kind::Listen | Kind::ProbeHttpSse => HttpMethod::Get,
            Kind::Delete => HttpMethod::Delete,
            _ if self.resuming => HttpMethod::Get,
            _ => HttpMethod::Post,
        }
    }

    /// Names the fields of the request's head, in small letters, and their values, for the message
    /// that it was [made](Self::new) of.
    pub fn fields(
        &self,
        origin: &Origin,
        message: &Message<'_>,
        each: &mut dyn FnMut(&str, &[u8]),
    ) {
        match self.method() {
            HttpMethod::Post => {
                each("content-type", JSON.as_bytes());
                // SC-02
                each("accept", b"application/json, text/event-stream");
            }
            HttpMethod::Get => {
                each("accept", EVENT_STREAM.as_bytes());
                if !self.last_event_id.is_empty() {
                    each("last-event-id", &self.last_event_id);
                }
            }
            HttpMethod::Delete => {}
        }
        if self.mirrors(origin) && self.method() == HttpMethod::Post {
            mirrored(origin, message, each);
        }
        // The revision that is offered is not in force yet.
        if matches!(self.kind, Kind::Initialize | Kind::ProbeHttpSse) {
            return;
        }
        // SC-15, SC-16
        if let Some(revision) = self.revision.filter(|it| it.has_version_header()) {
            each("mcp-protocol-version", revision.as_str().as_bytes());
        }
        // SC-09, SC-23
        if let Some(session) = self.session.as_ref().filter(|_| !self.is_post_only()) {
            each("mcp-session-id", session.as_bytes());
        }
    }

    /// Judges the head of the reply.
    pub fn head(&mut self, origin: &mut Origin, head: &ReplyHead<'_>) -> Body {
        self.retry_after = retry_after::delay(head);
        if !(200..300).contains(&head.status) {
            return Body::Refusal;
        }
        self.opened = true;
        if self.kind == Kind::Initialize {
            // SH-27, SH-28
            let session = head
                .session
                .filter(|id| !id.is_empty() && id.iter().all(u8::is_ascii_graphic))
                .and_then(|id| core::str::from_utf8(id).ok());
            self.session = session.map(Box::from);
            origin.session.clone_from(&self.session);
        }
        let is = |media_type| {
            head.content_type
                .is_some_and(|it| media::is(it, media_type))
        };
        match self.kind {
            Kind::Told | Kind::Delete => Body::Nothing,
            Kind::Listen | Kind::ProbeHttpSse if !is(EVENT_STREAM) => Body::Refusal,
            // HS-06, HS-09
            _ if origin.two_endpoints && self.method() == HttpMethod::Post => Body::Nothing,
            _ if is(EVENT_STREAM) => Body::Events,
            _ if is(JSON) => Body::Json,
            _ => Body::Nothing,
        }
    }

    /// The reply has no body that matters.
    pub const fn nothing(&self, origin: &Origin) -> ExchangeOutcome {
        if self.awaited.is_empty() || origin.two_endpoints {
            return ExchangeOutcome::Done;
        }
        ExchangeOutcome::Fail(Failure::NoAnswer)
    }

    /// Takes the body of a reply. If the exchange changes its messages, it writes those for the machine to `instead`. Otherwise
    /// `instead` stays empty, and the machine takes the messages of the body.
    pub fn answer<T: AsRef<[u8]>>(
        &mut self,
        origin: &mut Origin,
        body: &OwnedMessages<T>,
        instead: &mut Vec<u8>,
    ) -> ExchangeOutcome {
        if self.epoch != origin.epoch {
            return self.outlived();
        }
        if self.take(origin, body, instead) || self.answered {
            return ExchangeOutcome::Deliver;
        }
        // An error that names no request is about those that were sent.
        if let Some((None, error)) = error_of(body.message())
            && !self.awaited.is_empty()
        {
            write_to_all(&core::mem::take(&mut self.awaited), &error, instead);
            return ExchangeOutcome::Deliver;
        }
        ExchangeOutcome::Fail(Failure::NoAnswer)
    }

    /// Takes an event of the reply's stream. Returns true if its data contains messages, which the driver parses and passes to
    /// [`messages`](Self::messages).
    pub fn event(&mut self, event: &sse::Event<'_>) -> bool {
        // One without data is a step forward only if it says where the stream is now.
        let moved = !event.id.is_empty() && event.id != self.last_event_id;
        if moved || !event.data.is_empty() {
            self.backoff.succeeded();
        }
        // SSE-07, SSE-08
        event.name == b"message" && !event.data.is_empty()
    }

    /// Takes the messages of an event. Returns true if there are messages for the machine: these, or those that the exchange
    /// writes to `instead`.
    pub fn messages<T: AsRef<[u8]>>(
        &mut self,
        origin: &mut Origin,
        data: &OwnedMessages<T>,
        instead: &mut Vec<u8>,
    ) -> bool {
        if self.epoch != origin.epoch {
            return false;
        }
        if self.kind == Kind::Listen
            && self.is_draft(origin)
            && let Some(parted) = stray_requests::part(data)
        {
            self.refusals.push(parted.refusals);
            instead.extend_from_slice(&parted.rest);
            return !parted.rest.is_empty();
        }
        self.take(origin, data, instead);
        true
    }

    /// The reply's stream is over, by its end or by an error: `id` is its last event's, and
    /// `retry` what it said of the next attempt. `jitter` is any number, another each time.
    pub fn end(
        &mut self,
        origin: &Origin,
        now: Instant,
        id: &[u8],
        retry: Option<Duration>,
        jitter: u32,
    ) -> ExchangeOutcome {
        if !id.is_empty() {
            self.last_event_id.clear();
            // Without it the request would open another stream than the one that broke.
            if can_be_a_field(id) {
                self.last_event_id.extend_from_slice(id);
            }
        }
        self.backoff.set_retry(retry);
        let stood = |since| now.saturating_since(since) >= STEADY;
        if self.resumed.is_some_and(stood) {
            self.backoff.succeeded();
        }
        self.broken(origin, now, jitter)
    }

    /// No reply came: the server could not be reached, or (`begun`) it may have read the request.
    pub fn unreachable(
        &mut self,
        origin: &Origin,
        now: Instant,
        begun: bool,
        jitter: u32,
    ) -> ExchangeOutcome {
        if self.resuming || self.kind == Kind::Listen {
            return self.broken(origin, now, jitter);
        }
        match (self.awaited.is_empty(), begun) {
            (true, _) => ExchangeOutcome::Done,
            (false, true) => ExchangeOutcome::Fail(Failure::Broken),
            (false, false) => ExchangeOutcome::Fail(Failure::Unreachable),
        }
    }

    /// The delay that the last reply asked for with `Retry-After`, an hour at most; only of a refusal
    /// that may pass. The exchange waits for it by itself. A driver also applies it to other
    /// requests that no caller waits for.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The outcome for what comes after the session of the exchange was lost.
    pub(super) fn outlived(&self) -> ExchangeOutcome {
        match self.opened && !self.awaited.is_empty() {
            true => ExchangeOutcome::Fail(Failure::Broken),
            false => ExchangeOutcome::Done,
        }
    }

    /// The outcome for a stream that was lost.
    pub(super) fn broken(&mut self, origin: &Origin, now: Instant, jitter: u32) -> ExchangeOutcome {
        if self.answered {
            return ExchangeOutcome::Done;
        }
        if self.epoch != origin.epoch {
            return self.outlived();
        }
        self.backoff
            .pause(self.retry_after.take().unwrap_or_default());
        match self.kind {
            Kind::Told | Kind::Delete => return ExchangeOutcome::Done,
            // HS-10
            Kind::ProbeHttpSse => return ExchangeOutcome::HangUp,
            // Whatever else happens, the server may have something to tell one day (SC-07).
            Kind::Listen => {
                let delay = self.backoff.next_without_end(jitter);
                return self.resume(now + delay);
            }
            _ => {
                // SC-21, SC-23; and in a session what had no id cannot be asked for.
                if self.is_post_only()
                    || self.last_event_id.is_empty()
                    || self.kind == Kind::Discover
                {
                    return ExchangeOutcome::Fail(Failure::Broken);
                }
            }
        }
        match self.backoff.next(jitter) {
            Some(delay) => self.resume(now + delay),
            None => ExchangeOutcome::Fail(Failure::Broken),
        }
    }

    const fn resume(&mut self, at: Instant) -> ExchangeOutcome {
        self.resuming = true;
        self.resumed = Some(at);
        ExchangeOutcome::Resume(at)
    }

    /// Returns true if the exchange asks for the events after a known one.
    pub(super) const fn has_position(&self) -> bool {
        !self.last_event_id.is_empty()
    }

    /// Asks for the stream from now on, without what was missed.
    pub(super) fn forget_position(&mut self) {
        self.last_event_id.clear();
    }

    /// Returns the messages that answer events of the server: each must be POSTed.
    ///
    /// In the transports draft of spring 2026 the server's own stream has notifications and pings
    /// alone, and the requests there are refused with -32602; the machine never receives them.
    pub fn take_refusals(&mut self) -> Vec<Vec<u8>> {
        core::mem::take(&mut self.refusals)
    }

    /// Returns true if headers repeat values of the body. The messages of an [array](Self::batch) then have to leave alone,
    /// because one head repeats the values of one message.
    pub fn mirrors(&self, origin: &Origin) -> bool {
        self.revision.is_some_and(Revision::has_mirrored_headers) || self.is_draft(origin)
    }

    /// Returns true if the exchange belongs to a session that is held to the transports draft.
    fn is_draft(&self, origin: &Origin) -> bool {
        self.revision.is_some_and(|revision| {
            revision.is_legacy()
                && !origin.two_endpoints
                && revision.over_http(origin.draft).has_mirrored_headers()
        })
    }

    /// Returns true if the revision of the exchange has neither sessions nor streams that can be
    /// resumed.
    pub(super) fn is_post_only(&self) -> bool {
        self.revision
            .is_some_and(|revision| revision.http() == Http::PostOnly)
    }

    /// Notes which answers the messages contain, and returns whether there is one. That to a list of tools is written to `instead`
    /// without the tools whose annotations are bad (XH-07).
    fn take<T: AsRef<[u8]>>(
        &mut self,
        origin: &mut Origin,
        received: &OwnedMessages<T>,
        instead: &mut Vec<u8>,
    ) -> bool {
        let mut is_answer = false;
        for message in received.messages() {
            if self.awaited.is_empty() {
                break;
            }
            let (id, result) = match &message {
                Incoming::Message(Message::Response(response)) => {
                    let result = response.id.zip(response.outcome.ok());
                    (response.id.and_then(Id::to_u64), result)
                }
                // A broken answer ends its call, which is done by the machine.
                Incoming::Message(Message::Invalid(invalid)) => (invalid.answered_id(), None),
                _ => continue,
            };
            if !id.is_some_and(|id| self.awaited.remove(id)) {
                continue;
            }
            is_answer = true;
            self.answered = self.awaited.is_empty();
            if let (Kind::Request { lists_tools: true }, true) = (self.kind, self.mirrors(origin))
                && let Some((id, result)) = result
            {
                let draft = self.is_draft(origin);
                origin.tools.learn(id, result, draft, instead);
            }
        }
        is_answer
    }
}

impl Origin {
    /// The GET that opens the server's own stream (SC-07), if the revision has one.
    pub fn listen(&self) -> Option<Exchange> {
        let streams = self.revision?.http() == Http::Sessions && !self.two_endpoints;
        streams.then(|| Exchange::of(self, Kind::Listen))
    }

    /// The GET that finds out whether the server is one of 2024-11-05 (SC-26).
    pub fn probe_http_sse(&self) -> Exchange {
        Exchange::of(self, Kind::ProbeHttpSse)
    }

    /// The DELETE that ends the session (SC-11), if there is one.
    pub fn delete(&self) -> Option<Exchange> {
        self.session.is_some().then(|| Exchange {
            // What is in force by now may have no sessions.
            revision: self.revision.filter(|revision| revision.is_legacy()),
            ..Exchange::of(self, Kind::Delete)
        })
    }
}

/// Without ids of sessions and events.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("kind", &self.kind)
            .field("awaited", &self.awaited)
            .field("epoch", &self.epoch)
            .field("answered", &self.answered)
            .field("resuming", &self.resuming)
            .finish_non_exhaustive()
    }
}

/// Returns true if a header carries the text unchanged (RFC 9110, section 5.5).
fn can_be_a_field(text: &[u8]) -> bool {
    let visible = |byte: &u8| !matches!(byte, 0x00..0x20 | 0x7F) || *byte == b'\t';
    text.iter().all(visible) && text.trim_ascii().len() == text.len()
}
