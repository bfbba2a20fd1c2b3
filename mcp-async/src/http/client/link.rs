//! State that the exchanges share with their connection.

use core::hash::BuildHasher;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::hash::RandomState;
use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method as Verb, Request, Uri};
use http_body_util::Full;
use mcp_proto::client::http::{Exchange, HttpMethod as Asked, Origin};
use mcp_proto::client::{ClientConfig, Failure};
use mcp_proto::rpc::{Id, Message, Method, OwnedMessages};
use mcp_proto::{Instant, Limits, PreparedConfig};
use url::Url;

use super::authorization::Authorizer;
use super::carrier::{Carrier, Unsent};
use super::credentials::Credentials;
use super::fields;
use super::permits::{Permit, Permits};
use super::settings::{Settings, target};
use crate::client::state::ClientState;
use crate::client::state::inner::ClientShared;
use crate::client::{UnsentMessage, no_message, requests_of};
use crate::connection::{DriverWaker, Text};
use crate::error::AuthorizationError;
use crate::observe;
use crate::runtime::RuntimeHandle;
use crate::sync::{Lock, Waiter, Waiters};

pub(super) struct Link {
    pub(super) carrier: Arc<dyn Carrier>,
    pub(super) authorizer: Option<Arc<Authorizer>>,
    pub(super) limits: Limits,
    pub(super) client_state: Arc<ClientState>,
    /// Woken when there is work for the exchanges.
    pub(super) driver_waker: Arc<DriverWaker>,
    url: Url,
    /// The URL as it is requested: `None` if HTTP cannot have it.
    target: Option<Uri>,
    fields: HeaderMap,
    /// The connection.
    shared: Arc<ClientShared>,
    state: Lock<State>,
    dice: RandomState,
    /// For what no call waits for.
    permits: Permits,
}

/// Messages of the server, parsed.
pub(super) type Received = OwnedMessages<Text>;

struct State {
    origin: Origin,
    /// The URL to which messages to a server of 2024-11-05 are sent.
    endpoint: Option<Uri>,
    /// Messages that the connection has not read yet; `bytes` is their length together.
    incoming: VecDeque<Received>,
    bytes: usize,
    reader: Waiter,
    /// Exchanges that wait until the connection has read.
    room: Waiters,
    /// Nothing leaves until the server has taken `initialized` and its own stream is open
    /// or refused: what the server asks on a stream that is not open yet is lost.
    is_held: bool,
    writer: Waiter,
    orders: Vec<Order>,
    /// No answer can come any more.
    hung_up: bool,
    closing: Closing,
    rolled: u64,
    /// The reason why the last request was not answered.
    cause: Option<String>,
    /// The reason why the last request had no credentials that the server accepts.
    denied: Option<Arc<AuthorizationError>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    No,
    Asked,
    Done,
}

/// Something to do for the exchanges.
pub(super) enum Order {
    Start(Box<Start>),
    /// The exchange of this request has found the server's stream, which is read until the connection ends.
    Detach(u64),
    /// The answer to this request is no longer awaited.
    Drop(u64),
    /// The answer is no longer awaited, and a separate exchange must notify the server.
    Cancel(u64, Box<Start>),
    /// The session was lost, with these calls that the server had begun to answer.
    Renew(Vec<u64>),
    /// Drop everything except notifications that the server must still receive.
    Close(Option<Box<Start>>),
}

/// An exchange that begins.
pub(super) struct Start {
    pub(super) exchange: Exchange,
    pub(super) message: UnsentMessage,
    pub(super) opens: Opens,
    /// True if the end of the connection waits for the exchange.
    pub(super) stays: bool,
    /// Held by what no call waits for.
    pub(super) permit: Option<Permit>,
}

impl Start {
    const fn new(exchange: Exchange, message: UnsentMessage) -> Self {
        Self {
            exchange,
            message,
            opens: Opens::Nothing,
            stays: false,
            permit: None,
        }
    }
}

/// The messages that wait for an exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    Nothing,
    /// The server's own stream, until the server has taken `initialized`.
    Stream,
    /// Everything else, until the server's own stream is open or refused.
    Calls,
}

/// The outcome of sending a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// Its exchange has begun, or it needs none.
    Begun,
    /// No call waits for it, and as many of its kind are under way as there may be.
    NoSeat,
}

impl Link {
    pub(super) fn new(
        carrier: Arc<dyn Carrier>,
        authorizer: Option<Arc<Authorizer>>,
        url: Url,
        settings: &Settings,
        config: &PreparedConfig<ClientConfig<'_>>,
        client_state: Arc<ClientState>,
        shared: Arc<ClientShared>,
    ) -> Arc<Self> {
        let mut origin = Origin::new();
        if settings.draft {
            origin.hold_to_draft();
        }
        origin.set_methods(config);
        Arc::new(Self {
            carrier,
            authorizer,
            limits: config.limits,
            client_state,
            driver_waker: DriverWaker::new(),
            target: target(&url),
            url,
            fields: settings.fields.clone(),
            shared,
            state: Lock::new(State {
                origin,
                endpoint: None,
                incoming: VecDeque::new(),
                bytes: 0,
                reader: Waiter::new(),
                room: Waiters::new(),
                is_held: false,
                writer: Waiter::new(),
                orders: Vec::new(),
                hung_up: false,
                closing: Closing::No,
                rolled: 0,
                cause: None,
                denied: None,
            }),
            dice: RandomState::new(),
            permits: Permits::default(),
        })
    }

    /// Takes a message of the connection's; `Pending` while all messages have to wait.
    pub(super) fn poll_send(&self, cx: &Context<'_>, message: &UnsentMessage) -> Poll<Sent> {
        {
            let mut state = self.state.lock();
            if state.is_held {
                state.writer.register(cx);
                return Poll::Pending;
            }
        }
        Poll::Ready(self.send(message))
    }

    /// Ready when a message that no call waits for may leave; the task is woken when it may.
    pub(super) fn poll_seat(&self, cx: &Context<'_>) -> Poll<()> {
        self.permits.poll_free(cx)
    }

    fn send(&self, message: &UnsentMessage) -> Sent {
        let (mut opens, mut cancelled) = (Opens::Nothing, None);
        let (mut needs_seat, mut batch) = (true, None);
        match message.message() {
            Message::Request(request) => {
                // It was written for a session that is gone, or its answer is no longer awaited.
                let id = request.id.to_u64();
                if !id.is_some_and(|id| self.awaits(id)) {
                    return Sent::Begun;
                }
                self.note_revision(request.method);
                needs_seat = false;
            }
            Message::Notification(told) => {
                let revision = self.shared.lock().machine.revision();
                match told.method {
                    Method::Cancelled => {
                        let id = told.params.and_then(|params| params.get("requestId"));
                        cancelled = id.and_then(Id::from_raw).and_then(Id::to_u64);
                        // SC-20: that is the cancellation.
                        if revision.is_none_or(mcp_proto::Revision::hang_up_cancels) {
                            if let Some(id) = cancelled {
                                self.order(Order::Drop(id));
                            }
                            return Sent::Begun;
                        }
                        // There are no more of them than calls.
                        needs_seat = cancelled.is_none();
                    }
                    Method::Initialized => {
                        if let Some(revision) = revision {
                            self.state.lock().origin.set_revision(revision);
                        }
                        opens = Opens::Stream;
                        // Everything else waits for it.
                        needs_seat = false;
                    }
                    _ => {}
                }
            }
            Message::Response(_) => {}
            // An array, of requests or of answers.
            Message::Invalid(_) => {
                batch = self.origin(|origin| Exchange::batch(origin, message));
                if let Some(batch) = &batch {
                    // DF-01
                    let is_parted = self.origin(|origin| batch.mirrors(origin));
                    if is_parted {
                        for request in requests_of(message) {
                            self.send(&request);
                        }
                    }
                    if is_parted || !batch.ids().any(|id| self.awaits(id)) {
                        return Sent::Begun;
                    }
                    needs_seat = false;
                }
            }
        }
        let permit = match needs_seat {
            true => match self.permits.acquire() {
                None => return Sent::NoSeat,
                taken => taken,
            },
            false => None,
        };
        let exchange = {
            let mut state = self.state.lock();
            state.is_held |= opens == Opens::Stream;
            batch.unwrap_or_else(|| Exchange::new(&state.origin, &message.message()))
        };
        let start = Box::new(Start {
            opens,
            stays: cancelled.is_some(),
            permit,
            ..Start::new(exchange, message.clone())
        });
        self.order(match cancelled {
            Some(id) => Order::Cancel(id, start),
            None => Order::Start(start),
        });
        Sent::Begun
    }

    /// Notes the revision that all requests name, at the first request after a discovery: there is no handshake that settles it.
    fn note_revision(&self, method: Method<'_>) {
        let revision = self.shared.lock().machine.revision();
        if let Some(revision) = revision.filter(|it| it.is_modern())
            && method != Method::ServerDiscover
        {
            self.state.lock().origin.set_revision(revision);
        }
    }

    /// The request that asks for an exchange.
    pub(super) fn request(
        &self,
        exchange: &Exchange,
        message: &UnsentMessage,
    ) -> Result<Request<Full<Bytes>>, Unsent> {
        let state = self.state.lock();
        let (verb, body) = match exchange.method() {
            Asked::Post => (Verb::POST, message.text().clone()),
            Asked::Get => (Verb::GET, Bytes::new()),
            Asked::Delete => (Verb::DELETE, Bytes::new()),
        };
        let endpoint = state.endpoint.as_ref().filter(|_| verb == Verb::POST);
        let target = endpoint.or(self.target.as_ref()).ok_or_else(|| Unsent {
            begun: false,
            cause: format!("not a URL to send to: {}", self.url),
        })?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = verb;
        *request.uri_mut() = target.clone();
        let head = request.headers_mut();
        head.clone_from(&self.fields);
        head.reserve(fields::USUAL);
        let credentials = self.credentials();
        if let Some(value) = credentials.and_then(Credentials::authorization) {
            head.insert(AUTHORIZATION, value);
        }
        exchange.fields(&state.origin, &message.message(), &mut |name, value| {
            fields::insert(head, name, value);
        });
        Ok(request)
    }

    /// Looks at the origin, or changes it.
    pub(super) fn origin<T>(&self, look: impl FnOnce(&mut Origin) -> T) -> T {
        let (looked, dropped) = {
            let mut state = self.state.lock();
            let looked = look(&mut state.origin);
            (looked, state.origin.take_dropped())
        };
        for (name, why) in dropped {
            observe::tool_dropped(&name, &why);
        }
        looked
    }

    /// Parses what the server has sent.
    pub(super) fn parse(&self, text: Vec<u8>) -> Received {
        OwnedMessages::parse(Text::new(text.into()), self.limits.depth)
    }

    /// Hands messages to the connection, when that has read enough of what came before.
    pub(super) fn poll_deliver(
        &self,
        cx: &Context<'_>,
        messages: &mut Option<Received>,
    ) -> Poll<()> {
        let reader = {
            let mut state = self.state.lock();
            if state.bytes >= UNREAD {
                state.room.register(cx);
                return Poll::Pending;
            }
            let Some(messages) = messages.take() else {
                return Poll::Ready(());
            };
            state.bytes = state.bytes.saturating_add(messages.text().as_ref().len());
            state.incoming.push_back(messages);
            state.reader.take()
        };
        reader.wake();
        Poll::Ready(())
    }

    /// Ready when the connection has read everything.
    pub(super) fn poll_read(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.incoming.is_empty() {
            return Poll::Ready(());
        }
        state.room.register(cx);
        Poll::Pending
    }

    /// The next messages for the connection; `None` when none come any more.
    pub(super) fn poll_messages(&self, cx: &Context<'_>) -> Poll<Option<Received>> {
        let (messages, room) = {
            let mut state = self.state.lock();
            let Some(messages) = state.incoming.pop_front() else {
                if state.hung_up {
                    return Poll::Ready(None);
                }
                state.reader.register(cx);
                return Poll::Pending;
            };
            state.bytes = state.bytes.saturating_sub(messages.text().as_ref().len());
            (messages, state.room.take())
        };
        room.wake();
        Poll::Ready(Some(messages))
    }

    /// The server has taken `initialized`, or will not: its own stream is asked for (SC-07).
    /// Without one, what waited leaves now.
    pub(super) fn opened(&self) {
        match self.origin(|origin| origin.listen()) {
            Some(exchange) => self.order(Order::Start(Box::new(Start {
                opens: Opens::Calls,
                ..Start::new(exchange, no_message())
            }))),
            None => self.release(),
        }
    }

    /// Lets leave what waited.
    pub(super) fn release(&self) {
        let writer = {
            let mut state = self.state.lock();
            state.is_held = false;
            state.writer.take()
        };
        writer.wake();
    }

    /// The server has two endpoints, of which this is the second: messages go there from now on,
    /// and first the handshake that the first one refused. `false` for one that is elsewhere
    /// (HS-07).
    pub(super) fn move_to(&self, endpoint: &[u8], handshake: &UnsentMessage) -> bool {
        let endpoint = core::str::from_utf8(endpoint).ok();
        let endpoint = endpoint.and_then(|endpoint| self.url.join(endpoint.trim()).ok());
        let endpoint = endpoint.filter(|url| url.origin() == self.url.origin());
        let Some(endpoint) = endpoint.as_ref().and_then(target) else {
            return false;
        };
        let exchange = {
            let mut state = self.state.lock();
            state.endpoint = Some(endpoint);
            state.origin.set_two_endpoints();
            Exchange::new(&state.origin, &handshake.message())
        };
        if let Some(id) = exchange.id() {
            self.order(Order::Detach(id));
        }
        let start = Start::new(exchange, handshake.clone());
        self.order(Order::Start(Box::new(start)));
        true
    }

    /// The session is gone, with these calls that the server had begun to answer: another one begins.
    pub(super) fn renew(&self, begun: Vec<u64>) {
        self.order(Order::Renew(begun));
        self.release();
    }

    /// Begins another session, and makes the calls in flight again there.
    pub(super) fn lose_session(&self) {
        // SC-10: the supervisor releases the calls when the session knows what it is to know.
        self.shared.command(|machine, now| {
            if machine.lose_session(now) {
                machine.hold();
            }
        });
    }

    /// Returns whether the answer to this request is awaited.
    pub(super) fn awaits(&self, id: u64) -> bool {
        self.shared.lock().machine.awaits(id)
    }

    pub(super) fn refuse(&self, id: u64, status: u16) {
        self.shared
            .command(|machine, now| machine.refuse(now, id, status));
    }

    /// The error that is delivered next, to this request, says that head and body differ.
    pub(super) fn mismatched(&self, id: u64) {
        let core = &mut *self.shared.lock();
        if let Some(cookie) = core.machine.cookie_of(id) {
            core.responses.mismatched(cookie);
        }
    }

    pub(super) fn fail(&self, id: u64, failure: Failure) {
        self.shared.command(|machine, _| machine.fail(id, failure));
    }

    /// A request was not answered, for this reason.
    pub(super) fn unsent(&self, cause: String) {
        observe::unsent(&cause);
        self.state.lock().cause = Some(cause);
    }

    /// Takes the reason why the last request was not answered.
    pub(super) fn take_cause(&self) -> Option<String> {
        self.state.lock().cause.take()
    }

    /// The client has no credentials that the server accepts for these requests.
    pub(super) fn denied(&self, exchange: &Exchange, error: Arc<AuthorizationError>) {
        for id in exchange.ids() {
            let core = &mut *self.shared.lock();
            if let Some(cookie) = core.machine.cookie_of(id) {
                core.responses.denied(cookie, Arc::clone(&error));
            }
        }
        self.state.lock().denied = Some(error);
    }

    /// Takes the reason why the last request had no credentials that the server accepts.
    pub(super) fn take_denied(&self) -> Option<Arc<AuthorizationError>> {
        self.state.lock().denied.take()
    }

    /// The request waits for this side, not for the server.
    pub(super) fn suspend_timeout(&self, id: u64) {
        self.shared
            .command(|machine, now| machine.suspend_timeout(now, id));
    }

    /// The request waits for the server again.
    pub(super) fn restart_timeout(&self, id: u64) {
        self.shared
            .command(|machine, now| machine.restart_timeout(now, id));
    }

    /// No answer can come any more.
    pub(super) fn hang_up(&self) {
        let reader = {
            let mut state = self.state.lock();
            state.hung_up = true;
            state.reader.take()
        };
        reader.wake();
    }

    /// Ends the session (SC-11); ready when the server knows.
    pub(super) fn poll_close(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.closing == Closing::Done {
            return Poll::Ready(());
        }
        state.writer.register(cx);
        if state.closing == Closing::Asked {
            return Poll::Pending;
        }
        state.closing = Closing::Asked;
        let end = state.origin.delete().map(|exchange| {
            Box::new(Start {
                stays: true,
                ..Start::new(exchange, no_message())
            })
        });
        state.orders.push(Order::Close(end));
        drop(state);
        self.driver_waker.wake();
        Poll::Pending
    }

    /// All pending notifications have been sent.
    pub(super) fn closed(&self) {
        let writer = {
            let mut state = self.state.lock();
            state.closing = Closing::Done;
            state.writer.take()
        };
        writer.wake();
    }

    pub(super) fn take_orders(&self) -> Vec<Order> {
        core::mem::take(&mut self.state.lock().orders)
    }

    pub(super) fn now(&self) -> Instant {
        self.shared.now()
    }

    pub(super) fn runtime(&self) -> &RuntimeHandle {
        &self.shared.runtime
    }

    /// Another number each time.
    pub(super) fn roll(&self) -> u32 {
        let rolled = {
            let mut state = self.state.lock();
            state.rolled = state.rolled.wrapping_add(1);
            state.rolled
        };
        (self.dice.hash_one(rolled) >> 32) as u32
    }

    fn order(&self, order: Order) {
        self.state.lock().orders.push(order);
        self.driver_waker.wake();
    }
}

/// Bytes that wait for the connection before exchanges have to; one message more may come.
const UNREAD: usize = 256 << 10;
