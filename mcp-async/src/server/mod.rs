//! The server role.
//!
//! Most programs use [`Server`](crate::Server), with typed handlers. It stands on an untyped layer,
//! which needs no feature: [`connect`] returns a [`Connection`], the future that does the work, and a
//! [`Peer`], which sends to the client; a [`Service`] answers the calls.

mod about;
mod ask;
mod call_host;
mod connected;
mod context;
mod peer;
mod principal;
mod reply;
#[cfg(feature = "server")]
mod rounds;
mod run_until;
mod service;
mod tell;

pub mod layers;

#[cfg(feature = "server")]
mod build;
#[cfg(feature = "server")]
mod build_error;
#[cfg(feature = "server")]
pub(crate) mod builder;
#[cfg(feature = "server")]
mod catalog;
#[cfg(feature = "server")]
mod checks;
#[cfg(feature = "server")]
mod completion;
#[cfg(feature = "server")]
mod cursor;
#[cfg(feature = "server")]
mod declare;
#[cfg(feature = "server")]
mod encoded;
#[cfg(feature = "server")]
mod handler_context;
#[cfg(feature = "server")]
mod handler_error;
#[cfg(feature = "server")]
mod host;
#[cfg(feature = "server")]
mod inner;
#[cfg(feature = "server")]
mod item;
#[cfg(feature = "server")]
mod keyed;
#[cfg(feature = "server")]
mod lister;
#[cfg(feature = "server")]
mod live;
#[cfg(feature = "http-server")]
mod mirrored;
#[cfg(feature = "server")]
mod output;
#[cfg(feature = "server")]
pub(crate) mod parts;
#[cfg(feature = "server")]
mod principal_peers;
#[cfg(feature = "server")]
mod prompt;
#[cfg(feature = "server")]
mod rate;
#[cfg(feature = "server")]
mod register_error;
#[cfg(feature = "server")]
mod registry;
#[cfg(feature = "server")]
mod resource;
#[cfg(feature = "server")]
mod router;
#[cfg(feature = "server")]
mod runner;
#[cfg(feature = "server")]
pub(crate) mod serving;
#[cfg(feature = "server")]
mod settings;
#[cfg(feature = "server")]
mod state;
mod stdio;
#[cfg(feature = "server")]
mod template;
#[cfg(feature = "server")]
mod texts;
#[cfg(feature = "server")]
mod tool;
#[cfg(feature = "server")]
mod view;
#[cfg(feature = "server")]
mod visibility;

use core::fmt;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{self, Poll};
use core::time::Duration;
use std::io;
use std::panic::catch_unwind;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::json::{Number, Str};
use mcp_proto::server::{Answer, Event, Growing, PreparedConfig, Server, ServerSetup};
use mcp_proto::{Channel, Instant, Outcome, SendError, SentToken, Token, Transmit};

use self::about::{About, Known};
use self::ask::Lost;
use self::call_host::CallHost;
use self::connected::Connected;
use crate::connection::Progress;
use crate::connection::{Arrival, Driver, Effect, Frame, Pipe, Respond, Role, Shared, discard};
use crate::error::ErrorReply;
use crate::observe::{self, Transport};
use crate::runtime::{Clock, Now};

pub use self::ask::{Ask, AskError};
pub use self::context::CallContext;
pub use self::peer::Peer;
pub use self::principal::Principal;
pub use self::reply::{Input, Reply, Settled};
#[cfg(feature = "server")]
pub use self::rounds::{Elicited, QuestionFuture, RequestState, Roots, StateError, StateKeys};
pub use self::service::{Call, Service, ServiceFn, service_fn};
pub use self::stdio::serve_stdio;
pub use self::tell::{LogMessage, ProgressUpdate};

#[cfg(feature = "server")]
pub use self::{
    build_error::BuildError,
    builder::ServerBuilder,
    completion::{CompletionOutput, CompletionRequest},
    handler_context::Context,
    handler_error::HandlerError,
    item::Item,
    output::{Json, ToolOutput},
    principal_peers::PrincipalPeers,
    prompt::{Prompt, PromptOutput},
    rate::{RateLimit, RateLimits},
    register_error::RegisterError,
    registry::Registry,
    resource::{Resource, ResourceOutput},
    service::BoxService,
    template::{MatchedUri, Template},
    tool::{NoArguments, Tool, ToolCall},
};

#[cfg(feature = "http-server")]
pub(crate) use self::live::Live;
#[cfg(feature = "http-server")]
pub(crate) use self::rate::Buckets;

use mcp_proto::server::RequestContext as Request;

pub(crate) type Machine = Server<'static, Growing>;

/// What is kept with the machine.
#[cfg(feature = "server")]
type State = state::ServerState;
#[cfg(not(feature = "server"))]
type State = crate::connection::Nothing;

/// Serves one client over a pair of byte streams.
///
/// Spawn the [`Connection`], or await it; nothing happens otherwise. The [`Peer`] reaches the
/// client from outside of its calls, and ends the connection. An [`output`](mcp_proto::Limits::output)
/// that cannot hold what the server says of itself is raised until it can.
///
/// ```
/// use mcp_async::server::{connect, service_fn};
/// use mcp_async::{ErrorReply, ManualClock, duplex};
/// use mcp_proto::server::ServerConfig;
///
/// let (_client_side, server_side) = duplex(4096);
/// let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
/// let config = ServerConfig::new("nothing", "1.0");
/// let (connection, peer) = connect(server_side.split(), ManualClock::default(), config, service);
/// # let _ = peer;
/// drop(connection);
/// ```
pub fn connect<R, W, C, S>(
    streams: (R, W),
    clock: C,
    config: impl Into<ServerSetup<'static>>,
    service: S,
) -> (Connection<R, W, C, S>, Peer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
    S: Service,
{
    connect_with(streams, clock, PreparedConfig::with_room(config), service)
}

/// Serves one client with a machine of this prepared configuration.
fn connect_with<R, W, C, S>(
    (reader, writer): (R, W),
    clock: C,
    prepared: PreparedConfig<'static, Growing>,
    service: S,
) -> (Connection<R, W, C, S>, Peer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
    S: Service,
{
    let timer = clock.timer();
    let Ok(machine) = Server::new(prepared, Growing);
    let clock = Arc::new(clock) as Arc<dyn Now>;
    let limits = machine.config().limits;
    let shared = Shared::new(machine, &limits, clock, Transport::Pipe, Pipe);
    let peer = Peer::new(Arc::clone(&shared));
    let side = Side::new(service, peer.clone(), None);
    let driver = Driver::new((reader, writer), timer, &limits, GRACE, side, shared);
    (Connection { driver }, peer)
}

/// One client being served, until either side ends it.
///
/// At the end of the input everything that was read is answered. Handlers that still run after a short
/// [shutdown timeout](Self::with_shutdown_timeout) are dropped, and their calls answered with error -32603.
/// Then the output is flushed and closed, and the result is `Ok`; with nothing left to do that takes no
/// time. An output that the client has closed is the same without the answers. Dropping the connection ends
/// it at once.
///
/// # Errors
/// What the transport reports, apart from a peer that has gone.
#[must_use = "a connection does nothing until it is polled"]
pub struct Connection<R, W, C: Clock, S: Service> {
    driver: Driver<R, W, C::Timer, Side<S>>,
}

impl<R, W, C: Clock, S: Service> Connection<R, W, C, S> {
    /// Sets how long handlers may continue after the end of the input, and how long a client that
    /// reads nothing delays the end: one second otherwise.
    pub fn with_shutdown_timeout(mut self, shutdown_timeout: Duration) -> Self {
        self.driver.set_shutdown_timeout(shutdown_timeout);
        self
    }

    /// Says who is at the other end, where the transport has verified it: a name, or a
    /// [`Principal`] with claims. Request states are bound to the name (MR-08), and handlers find
    /// the principal in [`CallContext::principal`].
    pub fn with_principal(mut self, principal: impl Into<Principal>) -> Self {
        self.driver.role_mut().set_principal(Some(principal.into()));
        self
    }

    /// Seals request states with these keys; with random ones of this process otherwise, see
    /// [`StateKeys`].
    #[cfg(feature = "server")]
    pub fn with_state_keys(mut self, keys: StateKeys) -> Self {
        let shared = &self.driver.role_mut().peer.shared;
        shared.lock().role_state.rounds.set_keys(keys);
        self
    }
}

impl<R, W, C, S> Future for Connection<R, W, C, S>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
    S: Service,
{
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver.poll(cx)
    }
}

/// Everything in it is polled through `&mut` only.
impl<R, W, C: Clock, S: Service> Unpin for Connection<R, W, C, S> {}

impl<R, W, C: Clock, S: Service> fmt::Debug for Connection<R, W, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// Where a message came from.
#[derive(Clone)]
pub(crate) struct Arrived {
    pub(crate) channel: Channel,
    /// The head of its HTTP request.
    #[cfg(feature = "http-server")]
    pub(crate) head: Option<Arc<http::request::Parts>>,
}

impl Default for Arrived {
    /// From a pipe.
    fn default() -> Self {
        Self {
            channel: Channel::PIPE,
            #[cfg(feature = "http-server")]
            head: None,
        }
    }
}

impl Arrived {
    /// What middleware has added to the HTTP request.
    #[cfg(feature = "http-server")]
    fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.head.as_deref()?.extensions.get()
    }

    /// A pipe has no middleware.
    #[cfg(not(feature = "http-server"))]
    const fn extension<T>(&self) -> Option<&T> {
        None
    }
}

/// The server's side of the driver.
pub(crate) struct Side<S> {
    service: S,
    pub(crate) peer: Peer,
    /// What serves the contexts of the calls.
    host: Arc<dyn CallHost>,
    known: Known,
    /// The verified sender of the message that is being handled.
    principal: Option<Principal>,
    /// Where the message that is being handled came from.
    pub(crate) arrived: Arrived,
    /// The service keeps its request states itself.
    #[cfg(feature = "server")]
    seals_state: bool,
}

impl<S: Service> Role for Side<S> {
    type Machine = Machine;

    const WAITS_FOR_READER: bool = true;
    const DRAINS: bool = true;
    #[cfg(any(feature = "http-server", feature = "http-client"))]
    const SENDS_FIRST: bool = false;

    fn dispatch(
        &mut self,
        shared: &Arc<Shared<Machine>>,
        event: Event<'_>,
        frame: Frame<'_>,
    ) -> Effect {
        match event {
            Event::Request {
                token,
                method,
                params,
                context,
            } => {
                let told = self.known.told(&context, &shared.about);
                let principal = self.principal.clone();
                let host = Arc::clone(&self.host);
                let call = Call {
                    method,
                    params,
                    request: context,
                    context: CallContext::new(
                        host,
                        (token, self.arrived.clone()),
                        &context,
                        told,
                        principal,
                    ),
                    frame,
                };
                #[cfg(feature = "server")]
                let call = match self.begin(call) {
                    Ok(call) => call,
                    Err(refused) => return Effect::Start(token, refused),
                };
                match self.guarded(|service, _| service.call(call)) {
                    Some(job) => return Effect::Start(token, job),
                    None => return Effect::Panicked(token),
                }
            }
            Event::Cancelled { token, .. } => return Effect::Cancel(token),
            Event::Handshake(opened) => {
                self.known
                    .handshake(opened.client_info.as_raw(), &shared.about);
                self.guarded(|service, peer| service.handshake(peer, &opened));
            }
            Event::Initialized | Event::Listening { .. } => {
                self.guarded(|service, peer| service.listening(peer));
            }
            Event::Notification { method, params } => {
                self.guarded(|service, peer| service.notified(peer, method, params));
            }
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let tag = shared.lock().responses.tag(cookie);
                let message = message.map(Str::to_cow);
                let progress = Progress {
                    progress: progress.to_f64(),
                    total: total.map(Number::to_f64),
                    message: message.as_deref(),
                };
                self.guarded(|service, peer| service.progress(peer, tag, progress));
            }
            Event::PingMissed { misses, limit } => {
                observe::ping_missed(misses, limit);
                self.guarded(|service, peer| service.ping_missed(peer, misses, limit));
            }
            Event::Answer {
                token,
                cookie,
                answer,
            } => {
                let (arrival, raw) = match answer {
                    Answer::Result(raw) => (Arrival::Result, Some(raw)),
                    Answer::Error(error) => (Arrival::Error(ErrorReply::received(&error)), None),
                    Answer::Unusable(reason) => (Arrival::Failed(Lost::Unusable(reason)), None),
                    Answer::Timeout => (Arrival::Failed(Lost::Timeout), None),
                    Answer::Cancelled => (Arrival::Failed(Lost::Cancelled), None),
                    _ => (Arrival::Failed(Lost::Closed), None),
                };
                let waker = {
                    let core = &mut *shared.lock();
                    core.outbound.answered(token);
                    core.responses.put(cookie, arrival, raw, frame)
                };
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Event::Closed => return Effect::Close,
            _ => {}
        }
        Effect::Nothing
    }
}

impl<S: Service> Side<S> {
    pub(crate) fn new(service: S, peer: Peer, principal: Option<Principal>) -> Self {
        let mut side = Self {
            #[cfg(feature = "server")]
            seals_state: service.seals_state(),
            service,
            host: Arc::new(Connected(Arc::clone(&peer.shared))),
            peer,
            known: Known::default(),
            principal: None,
            arrived: Arrived::default(),
        };
        if principal.is_some() {
            side.set_principal(principal);
        }
        side
    }

    /// Says who sends what is handled from now on, for calls and for handles of the connection.
    fn set_principal(&mut self, principal: Option<Principal>) {
        self.peer.shared.about.set_principal(principal.clone());
        self.principal = principal;
    }

    /// The same, unless that is known.
    #[cfg(feature = "http-server")]
    pub(crate) fn identify(&mut self, principal: Option<Principal>) {
        let known = match (&self.principal, &principal) {
            (None, None) => true,
            (Some(known), Some(new)) => known.is_same(new),
            _ => false,
        };
        if !known {
            self.set_principal(principal);
        }
    }

    /// Takes up what a call brings from its last round.
    #[cfg(feature = "server")]
    fn begin<'b>(&self, mut call: Call<'b>) -> Result<Call<'b>, crate::connection::Job> {
        if !self.seals_state
            && let Err(error) = rounds::begin(&mut call)
        {
            return Err(call.refuse(error));
        }
        Ok(call)
    }

    /// Calls the service; `None` if it panicked.
    fn guarded<T>(&self, call: impl FnOnce(&S, &Peer) -> T) -> Option<T> {
        catch_unwind(AssertUnwindSafe(|| call(&self.service, &self.peer)))
            .map_err(|panic| {
                discard(panic);
                observe::panicked();
            })
            .ok()
    }
}

impl Respond for Server<'_, Growing> {
    type Failure = Lost;
    type About = About;
    type RoleState = State;

    fn respond(
        &mut self,
        now: Instant,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        Self::respond(self, now, token, outcome, out)
    }

    fn flush(
        &mut self,
        now: Instant,
        token: Token,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        self.flush_progress(now, token, out)
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn write_reply(
        &mut self,
        now: Instant,
        reply: &Self::Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, mcp_proto::BufferFull> {
        mcp_proto::Machine::reply(self, now, *reply, out)
    }

    #[cfg(any(feature = "http-server", feature = "http-client"))]
    fn next_channel_with_room(&self, has_room: impl Fn(Channel) -> bool) -> Option<Channel> {
        // One channel that is full blocks no other.
        self.next_channel_where(has_room)
    }

    fn abandon(&mut self, token: SentToken) {
        self.cancel(token);
    }

    fn stop(&mut self, _now: Instant) {
        self.cancel_all();
    }
}

/// Long enough for a handler that is about to finish, short enough for a client that waits
/// for the process to exit (ST-10).
const GRACE: Duration = Duration::from_secs(1);
