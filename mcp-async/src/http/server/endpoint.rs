//! Dispatches requests.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::{EXPECT, ORIGIN};
use http::request::Parts;
use http::{Request, StatusCode};
use http_body::Body;
use mcp_proto::http::{Access, Endpoint, Opening, Post, Route};
use mcp_proto::rpc::{Messages, code};
use mcp_proto::server::{Growing, PreparedConfig, Server as Core, SessionSnapshot};
use mcp_proto::{Channel, Revision, RevisionSet, Source};

use super::answer::{self, Answer};
use super::caller::principal;
use super::collect::{Broken, Room, collect};
use super::conversation::{Beginning, Conversation, Leave};
use super::head::RequestHead;
use super::options::Options;
use super::processes::{Forwarded, Processes};
use super::replies::Replies;
use super::sessions::{Capacity, Sessions, mint};
use super::streams::SessionStreams;
use super::turns::Turns;
use crate::connection::Text;
use crate::observe;
use crate::runtime::{Now, Runtime};
use crate::server::serving::Server;
use crate::server::serving_scope::ServingScope;
use crate::server::{BoxService, Buckets, Caller, Live, Machine, Peer};

/// Everything of one endpoint.
pub(super) struct HttpEndpoint<R: Runtime> {
    pub(super) server: Server<R>,
    pub(super) options: Options,
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
    revisions: RevisionSet,
    depth: u8,
    pub(super) clock: R,
    /// The same, for the handles of all connections.
    now: Arc<dyn Now>,
    pub(super) sessions: Arc<Sessions>,
    /// Those of the two endpoints of 2024-11-05, which are named by other tokens.
    pub(super) sse_sessions: Arc<Sessions>,
    /// Takeovers from other processes.
    pub(super) turns: Turns,
    /// The other processes, if requests are forwarded to them.
    pub(super) processes: Option<Arc<Processes>>,
    /// What is left of the limits that all exchanges share.
    buckets: Arc<Buckets>,
    /// Running exchanges, which are notified of the shutdown.
    exchanges: Arc<Exchanges>,
    /// Takes those that have ended out of what knows them.
    pub(super) leave: Leave,
    closing: AtomicBool,
    pub(super) serving: ServingScope,
    /// For bodies on their way.
    bodies: Room,
}

impl<R: Runtime> HttpEndpoint<R> {
    pub(super) fn new(server: Server<R>, options: Options) -> Self {
        let config = server.config();
        let serving = server.begin_serving(options.shutdown_timeout);
        let capacity = Capacity::new(options.limits.sessions);
        let exchanges = Arc::<Exchanges>::default();
        let leave: Leave = {
            let (server, exchanges) = (server.clone(), Arc::clone(&exchanges));
            Arc::new(move |peer| {
                exchanges.change(|live| live.remove(peer));
                server.disconnected(peer);
            })
        };
        let relay = options.sharing.relay.as_ref();
        let processes = relay
            .zip(mint())
            .map(|(relay, name)| Processes::new(Arc::clone(relay), name, options.lease));
        Self {
            processes,
            bodies: Room::new(options.max_total_body_bytes),
            hosts: options.all_hosts(),
            origins: options.all_origins(),
            revisions: match server.is_held_to_draft() {
                true => config.revisions.with(Revision::DraftV1),
                false => config.revisions,
            },
            server,
            options,
            depth: config.limits.depth,
            clock: R::default(),
            now: Arc::new(R::default()),
            sessions: Sessions::new(&capacity),
            sse_sessions: Sessions::new(&capacity),
            turns: Turns::default(),
            buckets: Arc::default(),
            exchanges,
            leave,
            closing: AtomicBool::new(false),
            serving,
        }
    }

    /// Which requests it lets in.
    pub(super) fn endpoint(&self) -> Endpoint<'_, String> {
        Endpoint {
            path: self.options.path.as_deref(),
            access: Access {
                hosts: self.hosts.as_deref(),
                origins: &self.origins,
            },
            revisions: self.revisions,
            sessions: self.options.sessions,
        }
    }

    pub(super) async fn serve<B: Body + Send>(&self, request: Request<B>) -> Answer {
        let (mut parts, body) = request.into_parts();
        #[cfg(feature = "auth")]
        if let Some(metadata) = self.metadata(&parts) {
            return metadata;
        }
        let refused = self.authenticate(&mut parts).await;
        if let Some(refused) = &refused
            && parts.extensions.get::<Forwarded>().is_some()
        {
            observe::forwarded_refused(refused.status());
        }
        let parts = Arc::new(parts);
        let mut body = Some(body);
        let mut answer = match refused {
            Some(refused) => refused,
            None => match self.http_sse(&parts, &mut body).await {
                Some(answer) => answer,
                None => self.answer(&parts, body).await,
            },
        };
        #[cfg(feature = "auth")]
        {
            answer = self.complete(&parts, answer);
        }
        if let Some(origin) = parts.headers.get(ORIGIN)
            && self.endpoint().access.allows_origin(origin.as_bytes())
        {
            answer::share(&mut answer, origin);
        }
        answer
    }

    async fn answer<B: Body>(&self, parts: &Arc<Parts>, body: Option<B>) -> Answer {
        let head = RequestHead(parts);
        let methods = self.endpoint().methods();
        match (self.endpoint().open(&head), body) {
            (Ok(Opening::Delete(id)), _) => self.delete(parts, id).await,
            (Ok(Opening::Preflight), _) => answer::preflight(parts, methods),
            (Ok(_), _) if self.is_closing() => answer::closing(),
            (Ok(Opening::Post(post)), Some(body)) => self.post(parts, &post, body).await,
            (Ok(Opening::Get(get)), _) => self.get(parts, &get).await,
            (Ok(Opening::Post(_)), None) => answer::empty(StatusCode::BAD_REQUEST),
            (Err(refusal), _) => answer::refusal(refusal, methods),
        }
    }

    pub(super) fn shutdown(&self, grace: Duration) {
        self.serving.end(grace);
        self.closing.store(true, Ordering::SeqCst);
        let exchanges = self.exchanges.change(|live| live.peers());
        exchanges.iter().for_each(Peer::shutdown);
        for session in self.sessions.all().iter().chain(&self.sse_sessions.all()) {
            session.shutdown();
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst) || self.server.is_closing()
    }

    /// How long a session may be idle.
    pub(super) fn idle(&self) -> Duration {
        self.options.limits.session_idle
    }

    /// What the machines for the sender of this request are made of.
    fn prepared(&self, parts: &Parts) -> PreparedConfig<'static, Growing> {
        let prepared = self.server.prepared(match principal(parts) {
            Some(_) => Caller::Known,
            None => Caller::Anonymous,
        });
        if !self.server.is_held_to_draft() {
            return prepared;
        }
        let mut config = prepared.config().clone();
        config.revisions = self.revisions;
        config.draft_profile = true;
        PreparedConfig::with_room(config)
    }

    pub(super) const fn depth(&self) -> u8 {
        self.depth
    }

    async fn post<B: Body>(&self, parts: &Arc<Parts>, post: &Post<'_>, body: B) -> Answer {
        let body = match self.collect(parts, body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        // A head that is modern says enough, so the body is read once.
        let first = || Messages::new(&body, self.depth()).next();
        let route = match post.is_modern() {
            true => Some(Route::Modern),
            false => first().map(|first| self.endpoint().route(post, &first)),
        };
        match route {
            Some(Route::Session(id)) => self.session_post(parts, id, post, body).await,
            Some(Route::Refuse(refusal)) => answer::refusal(refusal, self.endpoint().methods()),
            Some(Route::Initialize) if self.options.sessions => {
                self.initialize(parts, post, &Text::new(body)).await
            }
            Some(_) if self.exchanges.count() >= self.options.max_exchanges => {
                answer::busy("there are as many requests under way as there may be")
            }
            Some(Route::Stateless(revision)) => {
                let text = Text::new(body);
                self.stateless(parts, post, &text, revision).await
            }
            // A handshake that opens no session is as good as any other exchange.
            _ => {
                // One POST is one request, so its table has one place.
                let Ok(machine) = Core::new(self.prepared(parts).with_in_flight(1), Growing);
                let conversation = self.exchange_connection(parts, machine);
                let source = Source::post(Channel::new(1), post);
                let text = Text::new(body);
                self.exchange(conversation, parts, &source, &text).await
            }
        }
    }

    /// The longest body.
    pub(super) fn max_body_bytes(&self) -> usize {
        self.options.limits.body
    }

    /// A request's body, whole.
    pub(super) async fn collect<B: Body>(&self, parts: &Parts, body: B) -> Result<Vec<u8>, Answer> {
        let limit = self.max_body_bytes();
        let patience = self.options.body_timeout;
        let awaits = parts.headers.contains_key(EXPECT);
        let body = collect(body, limit, patience, &self.bodies, &self.clock, awaits).await;
        let body = body.map_err(|broken| unread(broken, limit))?;
        #[cfg(feature = "auth")]
        if let Some(refused) = self.missing_scopes(parts, &body) {
            return Err(refused);
        }
        Ok(body)
    }

    /// A machine that knows nothing of its client yet.
    pub(super) fn machine(&self, parts: &Parts) -> Machine {
        let Ok(machine) = Core::new(self.prepared(parts), Growing);
        machine
    }

    /// A machine that continues with what was agreed on.
    pub(super) fn resumed(&self, parts: &Parts, snapshot: &SessionSnapshot) -> Machine {
        let prepared = self.prepared(parts);
        let Ok(machine) = Core::resume(self.clock.now(), prepared, Growing, snapshot);
        machine
    }

    /// The connection of a session, whose messages go to these streams.
    pub(super) fn session_connection(
        &self,
        parts: &Parts,
        streams: SessionStreams,
        machine: Machine,
    ) -> Conversation<R> {
        let service = self.server.service();
        let conversation = Conversation::new(self.beginning(parts, service, machine), streams);
        self.server.configure(conversation.peer());
        conversation
    }

    /// The connection of one exchange that stands for itself.
    pub(super) fn exchange_connection(&self, parts: &Parts, machine: Machine) -> Conversation<R> {
        let service = self.server.exchange_service(&self.buckets);
        let replies = Replies::new(self.options.streams.unread);
        let conversation = Conversation::new(self.beginning(parts, service, machine), replies);
        // An ordinary answer is not written twice to learn its length.
        conversation.with(|core| core.outbox.reserve(ANSWER));
        self.server.configure(conversation.peer());
        conversation
    }

    fn beginning(&self, parts: &Parts, service: BoxService, machine: Machine) -> Beginning<R> {
        Beginning {
            machine,
            service,
            keys: self.server.sealed_with(),
            principal: principal(parts),
            clock: self.clock,
            now: Arc::clone(&self.now),
            shutdown_timeout: self.options.shutdown_timeout,
        }
    }

    /// An exchange takes longer: it is notified of the shutdown.
    pub(super) fn goes_on(&self, conversation: &mut Conversation<R>) {
        self.exchanges.change(|live| live.add(conversation.peer()));
        conversation.leaves(&self.leave);
        if self.is_closing() {
            conversation.peer().shutdown();
        }
    }
}

/// Most answers are shorter.
const ANSWER: usize = 1 << 10;

/// The running exchanges. One that is answered at once is never among them, and takes no lock to
/// learn how many there are.
#[derive(Default)]
struct Exchanges {
    live: Mutex<Live>,
    count: AtomicUsize,
}

impl Exchanges {
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Live) -> T) -> T {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut live);
        self.count.store(live.len(), Ordering::Relaxed);
        changed
    }
}

/// A body that could not be read is no message.
fn unread(broken: Broken, limit: usize) -> Answer {
    let (status, code, message) = match broken {
        Broken::Crowded => return answer::busy("there are too many long bodies under way"),
        Broken::TooLong => (
            StatusCode::PAYLOAD_TOO_LARGE,
            code::INVALID_REQUEST,
            format!("the body is longer than {limit} bytes"),
        ),
        Broken::Late => (
            StatusCode::REQUEST_TIMEOUT,
            code::INVALID_REQUEST,
            "the body did not come in time".into(),
        ),
        Broken::Unreadable => (
            StatusCode::BAD_REQUEST,
            code::PARSE_ERROR,
            "the body could not be read".into(),
        ),
    };
    answer::error(status, code, &message)
}
