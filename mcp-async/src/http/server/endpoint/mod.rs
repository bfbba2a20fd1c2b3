//! Dispatches requests.

mod bodies;
pub(super) mod capacity;
pub(super) mod http_sse_paths;
pub(super) mod options;
pub(super) mod probe;
mod request_rates;
pub(super) mod session;
pub(super) mod sessions;
pub(super) mod status;
pub(super) mod turns;

use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::header::ORIGIN;
use http::request::Parts;
use http_body::Body;
use mcp_proto::http::{Access, Endpoint, Opening, Post, Refusal, Route};
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::server::http::streams::{Delivery, StreamResponse};
use mcp_proto::server::{Growing, Server as Core, ServerConfig, SessionSnapshot};
use mcp_proto::{PreparedConfig, Revision, RevisionSet, Source};

use self::capacity::{Capacity, Place};
use self::http_sse_paths::HttpSsePaths;
use self::options::Options;
use self::request_rates::RequestRates;
use self::sessions::Sessions;
use self::status::{HttpStatus, Readiness};
use self::turns::Turns;
use super::exchange::{self, Exchange};
use super::processes::{self, Counter, Counters, Processes};
use crate::connection::Text;
use crate::http::server::exchange::caller::principal;
use crate::http::server::exchange::conversation::{Beginning, Leave, ServedConversation};
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::collect::Broken;
use crate::http::server::messages::head::RequestHead;
use crate::net::RemoteAddr;
use crate::runtime::RuntimeHandle;
use crate::server::serving::Server;
use crate::server::serving::serving_scope::ServingScope;
use crate::server::{BoxService, CallBuckets, Caller, Live, Machine, Peer, ServerStreams};
use crate::shares::{CallerId, FREE, Shares, UnreadBudget};
use crate::sync::Lock;

/// Everything of one endpoint.
pub(super) struct HttpEndpoint {
    pub(super) server: Server,
    pub(super) options: Options,
    revisions: RevisionSet,
    pub(super) depth: u8,
    pub(super) runtime: RuntimeHandle,
    pub(super) sessions: Arc<Sessions>,
    /// Those of the two endpoints of 2024-11-05, which are named by other tokens.
    pub(super) sse_sessions: Arc<Sessions>,
    /// The places of both.
    capacity: Arc<Capacity>,
    /// Takeovers from other processes.
    pub(super) turns: Turns,
    /// The other processes, if requests are forwarded to them.
    pub(super) processes: Option<Arc<Processes>>,
    /// The rest of the limits that all exchanges of a caller share.
    buckets: Arc<CallBuckets>,
    request_rates: RequestRates,
    /// Running exchanges, which are notified of the shutdown.
    exchanges: Arc<Lock<Live>>,
    /// Their places.
    places: Arc<Shares<CallerId>>,
    /// Places of requests in sessions that are not answered yet.
    pub(super) calls: Arc<Shares<CallerId>>,
    /// Places of requests that other processes have forwarded.
    pub(super) forwarded: Arc<Shares<CallerId>>,
    /// Takes those that have ended out of what knows them.
    pub(super) leave: Leave,
    closing: AtomicBool,
    pub(super) serving: ServingScope,
    /// For bodies on their way.
    bodies: Arc<Shares<CallerId>>,
    /// For answers on their way.
    pub(super) unread: UnreadBudget,
}

impl HttpEndpoint {
    pub(super) fn new(server: Server, mut options: Options, runtime: RuntimeHandle) -> Self {
        let config = server.config();
        let serving = server.begin_serving(&runtime, options.shutdown_timeout);
        let exchanges = Arc::<Lock<Live>>::default();
        let leave: Leave = {
            let (server, exchanges) = (server.clone(), Arc::clone(&exchanges));
            Arc::new(move |peer| {
                exchanges.lock().remove(peer);
                server.inner.disconnected(peer);
            })
        };
        let shared = options.sharing.take();
        let processes = shared.map(|shared| Processes::new(shared, options.lease, runtime.clone()));
        Self {
            processes,
            bodies: Shares::new(options.max_total_body_bytes),
            unread: UnreadBudget::new(options.max_total_unread_bytes),
            capacity: Capacity::new(options.limits.sessions),
            places: Shares::new(options.max_exchanges),
            calls: Shares::new(options.max_exchanges),
            forwarded: Shares::new(options.max_exchanges),
            revisions: match server.is_held_to_draft() {
                true => config.revisions.with(Revision::DraftV1),
                false => config.revisions,
            },
            server,
            options,
            depth: config.limits.depth,
            runtime,
            sessions: Arc::default(),
            sse_sessions: Arc::default(),
            turns: Turns::default(),
            buckets: Arc::default(),
            request_rates: RequestRates::default(),
            exchanges,
            leave,
            closing: AtomicBool::new(false),
            serving,
        }
    }

    /// Returns the rules by which the endpoint accepts requests.
    pub(super) fn endpoint(&self) -> Endpoint<'_, String> {
        Endpoint {
            path: self.options.path.as_deref(),
            access: Access {
                hosts: self.options.hosts.as_deref(),
                origins: &self.options.origins,
            },
            revisions: self.revisions,
            sessions: self.options.sessions,
        }
    }

    /// Answers a request. The future is one allocation, whatever the request is.
    pub(super) fn serve<B>(self: Arc<Self>, parts: Arc<Parts>, body: B) -> Serving
    where
        B: Body + Send + 'static,
    {
        if let Some(processes) = &self.processes
            && let Some(signed) = parts.headers.get(processes::REQUEST)
        {
            let verified = processes.keys.requests.verify(signed.as_bytes());
            let (processes, parts) = (Arc::clone(processes), Arc::unwrap_or_clone(parts));
            return Box::pin(async move {
                let answer = self.serve_forwarded(&processes, verified, parts, body);
                Ok(answer.await)
            });
        }
        Box::pin(self.serve_head(parts, body))
    }

    /// Answers a request that arrived here, or at another process that has verified its sender.
    pub(super) async fn serve_head<B: Body + Send>(
        self: Arc<Self>,
        mut parts: Arc<Parts>,
        body: B,
    ) -> Result<Answer, Infallible> {
        if let Some(probe) = &self.options.probe
            && probe.is_asked(&parts)
        {
            return Ok(probe.answer(&self.status()));
        }
        #[cfg(feature = "auth")]
        if let Some(metadata) = self.metadata(&parts) {
            return Ok(metadata);
        }
        #[cfg(all(feature = "auth", feature = "http-client"))]
        if let Some(login) = self.login_at(&parts) {
            return Ok(Box::pin(self.answer_login(login, &parts, body)).await);
        }
        let mut body = Some(body);
        let mut answer = self.answer(&mut parts, &mut body).await;
        if let Some(body) = body {
            answer = Box::pin(self.after_body(&parts, body, answer)).await;
        }
        self.finish(parts, &mut answer);
        Ok(answer)
    }

    /// Adds what each answer has, whatever the request asks for.
    fn finish(&self, mut parts: Arc<Parts>, answer: &mut Answer) {
        #[cfg(feature = "auth")]
        self.complete(&parts, answer);
        self.count_unread(&parts, answer);
        if let Some(origin) = parts.headers.get(ORIGIN)
            && self.endpoint().access.allows_origin(origin.as_bytes())
        {
            answer::share(answer, origin);
        }
        if let Some(parts) = Arc::get_mut(&mut parts) {
            RemoteAddr::reuse(&mut parts.extensions);
            answer::reuse(&mut parts.headers);
        }
    }

    /// Returns true if the endpoint has a hook, or tokens, that verify who sends a request.
    const fn verifies_senders(&self) -> bool {
        #[cfg(feature = "auth")]
        if self.options.guard.is_some() {
            return true;
        }
        self.options.authenticate.is_some()
    }

    /// Returns the two endpoints of 2024-11-05, if this is the path of one of them.
    pub(super) fn http_sse_at(&self, path: &str) -> Option<&HttpSsePaths> {
        let both = self.options.http_sse.as_ref();
        both.filter(|both| both.is_at(path))
    }

    /// Counts the bytes of an answer, once, until they are read. Without room for them the answer becomes another one;
    /// then this returns false.
    pub(super) fn count_unread(&self, parts: &Parts, answer: &mut Answer) -> bool {
        let len = answer.body().bytes().map(<[u8]>::len);
        if len.is_some_and(|len| len <= FREE) || answer.body().is_counted() {
            return true;
        }
        let mut part = self.unread.part(self.caller(parts));
        if part.grow_to(len.unwrap_or_default()) {
            answer.body_mut().count_by(part);
            return true;
        }
        *answer =
            answer::busy("too many bytes of answers wait to be read: the request may have run");
        false
    }

    /// Verifies the sender, and takes the body if it is needed for the answer.
    async fn answer<B: Body + Send>(&self, parts: &mut Arc<Parts>, body: &mut Option<B>) -> Answer {
        if self.verifies_senders()
            && let Some(refused) = Box::pin(self.authenticate(Arc::make_mut(parts))).await
        {
            return refused;
        }
        let parts = &*parts;
        if let Some(both) = self.http_sse_at(parts.uri.path()) {
            return Box::pin(self.http_sse(both, parts, body)).await;
        }
        let head = RequestHead(parts);
        let methods = self.endpoint().methods();
        let opening = self.endpoint().open(&head);
        let caller = self.caller(parts);
        match opening {
            Ok(Opening::Preflight) => answer::preflight(parts, methods),
            Ok(_) if let Some(refused) = self.count_messages(parts, caller.as_ref(), 1) => refused,
            Ok(Opening::Delete(id)) => Box::pin(self.delete(parts, id)).await,
            // Sessions that end here, and those of other processes, still have answers and streams.
            Ok(opening) if self.is_closing() && !self.continues(&opening) => answer::closing(),
            Ok(Opening::Post(post)) => self.post(parts, &post, caller, body).await,
            Ok(Opening::Get(get)) => Box::pin(self.get(parts, &get)).await,
            Err(refusal) => answer::refusal(refusal, methods),
        }
    }

    pub(super) fn status(&self) -> HttpStatus {
        let processes = self.processes.as_ref();
        let count = |counter: fn(&Counters) -> &Counter| {
            processes.map_or(0, |processes| counter(&processes.counters).get())
        };
        let exchanges = self.exchanges.lock().peers();
        HttpStatus {
            readiness: match processes {
                _ if self.is_closing() => Readiness::Draining,
                Some(processes) if !processes.has_lease() => Readiness::StoreUnreachable,
                _ => Readiness::Ready,
            },
            sessions: self.sessions.len() + self.sse_sessions.len(),
            exchanges: exchanges.len(),
            tasks: self.serving.running(),
            kept_in_exchange: self.serving.kept_in_exchange(),
            takeovers: count(|counters| &counters.takeovers),
            displaced: count(|counters| &counters.displaced),
            forwarded: count(|counters| &counters.forwarded),
            received: count(|counters| &counters.received),
            store_latency: processes.and_then(|processes| processes.counters.latency()),
        }
    }

    /// Returns true for a request of a session that processes share.
    fn continues(&self, opening: &Opening<'_>) -> bool {
        let has_session = match opening {
            Opening::Post(post) => post.session.is_some() && !post.is_modern(),
            Opening::Get(_) => true,
            _ => false,
        };
        has_session && self.processes.is_some()
    }

    /// Returns true if a session, an exchange or work in the background has not ended.
    pub(super) fn is_busy(&self) -> bool {
        let exchanges = self.exchanges.lock().peers();
        let sessions = [&self.sessions, &self.sse_sessions];
        !exchanges.is_empty()
            || sessions.iter().any(|sessions| !sessions.is_empty())
            || self.serving.running() > 0
    }

    /// Waits for what the shutdown ends: work in the background, renewals of logins, sessions that processes share, the lease, and
    /// the changes that the other processes do not know.
    pub(super) async fn drained(&self) {
        self.serving.drained().await;
        #[cfg(all(feature = "auth", feature = "http-client"))]
        if let Some(login) = &self.options.login {
            let limit = self.options.shutdown_timeout + LAST_WRITES;
            let _ = crate::runtime::within(&self.runtime, limit, login.drained()).await;
        }
        if let Some(processes) = &self.processes {
            processes.left.wait().await;
            processes.published().await;
        }
    }

    /// Ends the lease now, whatever runs.
    pub(super) async fn leave(&self) {
        if let Some(processes) = &self.processes
            && !processes.left.is_set()
        {
            processes.leave().await;
        }
    }

    pub(super) fn shutdown(&self, grace: Duration) {
        self.serving.end(grace);
        self.closing.store(true, Ordering::SeqCst);
        if let Some(processes) = &self.processes {
            processes.closing.set();
        }
        let exchanges = self.exchanges.lock().peers();
        exchanges.iter().for_each(Peer::shutdown);
        for session in self.sessions.all().iter().chain(&self.sse_sessions.all()) {
            session.shutdown();
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst) || self.server.inner.is_closing()
    }

    /// Returns the configuration of the machines for the sender of this request.
    fn prepared(&self, parts: &Parts) -> PreparedConfig<ServerConfig<'static>> {
        let prepared = self.server.prepared(match principal(parts) {
            Some(_) => Caller::Known,
            None => Caller::Anonymous,
        });
        if !self.server.is_held_to_draft() {
            return prepared;
        }
        prepared.with(|config| {
            config.revisions = self.revisions;
            config.draft_profile = true;
        })
    }

    async fn post<B: Body>(
        &self,
        parts: &Arc<Parts>,
        post: &Post<'_>,
        caller: Option<CallerId>,
        body: &mut Option<B>,
    ) -> Answer {
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
        let route = self.endpoint().route_body(post, &body);
        let stateless = match route {
            Route::Session(id) => {
                let session = match self.session(parts, id, body.text().as_ref()).await {
                    Ok(session) => session,
                    Err(answer) => return answer,
                };
                let reading = match self.session_post(parts, caller, &session, post, body) {
                    Ok(reading) => reading,
                    Err(refusal) => return answer::refusal(refusal, ""),
                };
                return self.session_response(&session, reading).await;
            }
            Route::Refuse(refusal) => {
                return answer::refusal(refusal, self.endpoint().methods());
            }
            Route::Initialize if self.options.sessions => {
                return Box::pin(self.initialize(parts, post, &body)).await;
            }
            Route::Stateless(revision) => Some(revision),
            // A handshake that opens no session is as good as any other exchange.
            Route::Initialize | Route::Modern => None,
        };
        let exchange = match self.exchange(stateless, parts, post, caller, &body) {
            Ok(Begun::Decided(answer)) => return answer,
            Ok(Begun::Continues(exchange)) => exchange,
            Err(refusal) => return answer::refusal(refusal, ""),
        };
        drop(body);
        exchange.answer().await
    }

    /// Handles the messages of a body that belong to no session, with a machine of their own.
    ///
    /// The machine is made here and not in the future of the response, which would be copied with it.
    fn exchange(
        &self,
        stateless: Option<Revision>,
        parts: &Arc<Parts>,
        post: &Post<'_>,
        caller: Option<CallerId>,
        body: &OwnedMessages<Text>,
    ) -> Result<Begun, Refusal> {
        let machine = match stateless {
            // A legacy message to a server without sessions (SH-32).
            Some(revision) => self.resumed(parts, &SessionSnapshot::stateless(revision)),
            // One POST is one request, so its table has one place.
            None => Core::with_in_flight(self.prepared(parts), 1, Growing),
        };
        let unread = self.unread.part(caller.clone());
        let streams = ServerStreams::new(Delivery::Once, self.options.streams, unread);
        let mut streams = Box::new(streams);
        let reader = streams.open()?;
        let channel = reader.channel();
        let conversation = self.exchange_connection(parts, caller, machine, streams);
        // The clock was read when the conversation was made.
        let now = conversation.with(|core| core.now);
        let mut exchange = Exchange::new(conversation, reader, now, self.options.keep_alive);
        let conversation = &mut exchange.conversation;
        let source = Source::post(channel, post);
        let status = conversation.take_in(now, &source, parts, body);
        conversation.streams(|streams| streams.handled(channel, status));
        let begun = exchange.begin(now);
        let takes_longer = matches!(begun, StreamResponse::Pending | StreamResponse::Events);
        if takes_longer && !self.goes_on(&mut exchange, parts, self.places_of(body)) {
            return Err(Refusal::Unavailable(FULL));
        }
        Ok(match begun {
            StreamResponse::Pending => Begun::Continues(Box::new(exchange)),
            StreamResponse::Events => Begun::Decided(Box::new(exchange).events()),
            decided => Begun::Decided(exchange::decided(decided)),
        })
    }

    /// A machine that knows nothing of its client yet.
    pub(super) fn machine(&self, parts: &Parts) -> Machine {
        Core::with_room(self.prepared(parts), Growing)
    }

    /// A machine that continues with what was agreed on.
    pub(super) fn resumed(&self, parts: &Parts, snapshot: &SessionSnapshot) -> Machine {
        let mut machine = self.machine(parts);
        machine.resume(self.runtime.now(), snapshot);
        machine
    }

    /// The connection of a session, whose messages go to these streams.
    pub(super) fn session_connection(
        &self,
        parts: &Parts,
        streams: ServerStreams,
        machine: Machine,
    ) -> ServedConversation {
        let service = self.server.service(&self.runtime);
        let conversation =
            ServedConversation::new(self.beginning(parts, service), machine, Box::new(streams));
        self.server.configure(conversation.peer());
        conversation
    }

    /// The connection of one exchange that stands for itself.
    pub(super) fn exchange_connection(
        &self,
        parts: &Parts,
        caller: Option<CallerId>,
        machine: Machine,
        streams: Box<ServerStreams>,
    ) -> ServedConversation {
        let service = self.server.exchange_service((&self.buckets, caller));
        let conversation =
            ServedConversation::new(self.beginning(parts, service), machine, streams);
        self.server.configure(conversation.peer());
        conversation
    }

    fn beginning(&self, parts: &Parts, service: BoxService) -> Beginning {
        Beginning {
            service,
            keys: self.server.sealed_with(),
            principal: principal(parts),
            runtime: self.runtime.clone(),
            shutdown_timeout: self.options.shutdown_timeout,
        }
    }

    /// The sender whose share the places of this request count for.
    pub(super) fn caller(&self, parts: &Parts) -> Option<CallerId> {
        CallerId::of(parts, &self.options.trusted_proxies)
    }

    /// A place for one more session; `None` if the sender of this request cannot have one.
    pub(super) fn place(&self, parts: &Parts) -> Option<Place> {
        let caller = self.caller(parts);
        self.capacity.place(caller.as_ref(), self.runtime.now())
    }

    /// The number of places that the requests of a body need: those of an array beyond the limit are not served.
    pub(super) fn places_of(&self, body: &OwnedMessages<impl AsRef<[u8]>>) -> usize {
        body.calls().min(self.server.config().limits.batch.max(1))
    }

    /// An exchange takes longer: each of its calls takes a place, and it is notified of the shutdown. `false` if there
    /// are not as many places for its sender.
    fn goes_on(&self, exchange: &mut Exchange, parts: &Parts, calls: usize) -> bool {
        if exchange.has_ended() {
            return true;
        }
        let Some(places) = self.places.take_all(self.caller(parts), calls) else {
            return false;
        };
        exchange.hold(places);
        let conversation = &mut exchange.conversation;
        self.exchanges.lock().add(conversation.peer());
        conversation.leaves(&self.leave);
        if self.is_closing() {
            conversation.peer().shutdown();
        }
        true
    }
}

/// An exchange that has handled its messages.
enum Begun {
    Decided(Answer),
    /// Boxed, so that the future of a request is small: few exchanges continue.
    Continues(Box<Exchange>),
}

/// The time for which a store of logins is waited for after the shutdown timeout.
#[cfg(all(feature = "auth", feature = "http-client"))]
const LAST_WRITES: Duration = Duration::from_secs(3);

/// The response to a request, as it is made.
pub(super) type Serving = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

const FULL: &str = "there are as many requests under way as there may be: the request may have run";
