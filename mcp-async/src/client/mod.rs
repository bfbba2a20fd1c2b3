//! A client on a pipe: the connection's future, calls, and what hears the server.

mod call;
mod handler;
mod round;

use core::fmt;
use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use core::time::Duration;
use std::io;
use std::panic::catch_unwind;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::client::{
    Client as Core, ClientConfig, ConnectError as CoreError, Connected, Event, Failure, Growing,
};
use mcp_proto::json::{Object, Raw, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::{
    Instant, Machine as _, Outcome, Payload, Revision, RevisionSet, SendError, Token, Transmit,
};
use serde::de::DeserializeOwned;

use crate::clock::{Clock, Now};
use crate::driver::{Driver, Effect, Role};
use crate::error::ErrorReply;
use crate::job::{Job, discard};
use crate::places::Arrival;
use crate::shared::{Respond, Shared};

pub use self::call::{Call, CallError};
pub use self::handler::{Handler, Progress, Question, Reply};

type Machine = Core<'static, Growing>;

/// Speaks to one server over a pair of byte streams.
///
/// Spawn the [`Connection`]; nothing happens otherwise. The [`Client`] makes calls, which wait
/// until it is known who the server is; [`Client::ready`] tells.
///
/// ```
/// use mcp_async::client::connect;
/// use mcp_async::{ManualClock, duplex};
/// use mcp_proto::client::ClientConfig;
/// use mcp_proto::model::Implementation;
///
/// let (client_side, _server_side) = duplex(4096);
/// let config = ClientConfig::new(Implementation::new("demo", "1.0"));
/// let (connection, client) = connect(client_side.split(), ManualClock::default(), config, ());
/// drop(connection);
/// assert!(client.is_closed());
/// ```
pub fn connect<R, W, C, H>(
    (reader, writer): (R, W),
    clock: C,
    config: ClientConfig<'static>,
    handler: H,
) -> (Connection<R, W, C>, Client)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
    H: Handler,
{
    let timer = clock.timer();
    let now = clock.now();
    let mut machine = Core::new(config, Growing);
    // What is wrong with a configuration is told as `ConnectFailed`.
    let _ = machine.connect(now);
    let shared = Shared::new(machine, &config.limits, Arc::new(clock) as Arc<dyn Now>);
    let handler: Box<dyn Handler> = Box::new(handler);
    let about = Arc::new(About {
        handler,
        server: OnceLock::new(),
        failed: OnceLock::new(),
    });
    let side = Side {
        about: Arc::clone(&about),
    };
    let streams = (reader, writer);
    let driver = Driver::new(
        streams,
        timer,
        &config.limits,
        GRACE,
        side,
        Arc::clone(&shared),
    );
    shared.lock().handles = 1;
    (Connection { driver }, Client { shared, about })
}

/// A connection to a server: ends when the server ends it, or when the last [`Client`] is gone
/// or closes it.
///
/// What the client said before its end is still written. Dropping the connection ends it, and
/// every call, at once.
///
/// # Errors
/// What the transport reports, apart from a peer that has gone.
#[must_use = "a connection does nothing until it is polled"]
pub struct Connection<R, W, C: Clock> {
    driver: Driver<R, W, C::Timer, Side>,
}

impl<R, W, C: Clock> Connection<R, W, C> {
    /// How long a server that reads nothing holds up the end: one second otherwise.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.driver.set_grace(grace);
        self
    }
}

impl<R, W, C> Future for Connection<R, W, C>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Clock,
{
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().driver.poll(cx)
    }
}

/// Everything in it is polled through `&mut` only.
impl<R, W, C: Clock> Unpin for Connection<R, W, C> {}

impl<R, W, C: Clock> fmt::Debug for Connection<R, W, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// A handle of a connection to a server: cheap to clone, usable from any task.
pub struct Client {
    shared: Arc<Shared<Machine>>,
    about: Arc<About>,
}

/// What does not change once it is known.
struct About {
    handler: Box<dyn Handler>,
    server: OnceLock<ServerInfo>,
    failed: OnceLock<ConnectError>,
}

/// Who answered, and how the two speak.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// The revision that rules (LC-16).
    pub revision: Revision,
    /// An `Implementation`; it names the server and decides nothing (VR-09).
    pub server: Option<RawBuf>,
    /// `ServerCapabilities`; `None` if the server told only its era.
    pub capabilities: Option<RawBuf>,
    /// How the server wants to be used, for a model to read.
    pub instructions: Option<String>,
}

/// Why there is no connection to the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// No revision suits both sides.
    Revision {
        /// What the server offered: one version, or a list of them.
        offered: RawBuf,
        /// What this client accepts.
        accepted: RevisionSet,
    },
    /// The server refused.
    Refused(ErrorReply),
    /// The answer is not what the method returns, or no message at all.
    Answer,
    /// No answer in time.
    Expired,
    /// The connection ended first. A legacy server may exit on an unknown first message: start
    /// it once more, with [`Approach::Handshake`](mcp_proto::client::Approach::Handshake).
    Closed,
    /// The configuration accepts no revision.
    Nothing,
}

impl Client {
    /// Resolves when it is known who the server is, or that there will be no connection.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn ready(&self) -> impl Future<Output = Result<&ServerInfo, ConnectError>> + Send + '_ {
        poll_fn(|cx| {
            let mut core = self.shared.lock();
            if let Some(server) = self.about.server.get() {
                return Poll::Ready(Ok(server));
            }
            if let Some(error) = self.about.failed.get() {
                return Poll::Ready(Err(error.clone()));
            }
            if core.ended {
                return Poll::Ready(Err(ConnectError::Closed));
            }
            core.watch(cx);
            Poll::Pending
        })
    }

    /// Who the server is, if that is known.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.about.server.get()
    }

    /// Calls a method; the parameters are an object. Both are borrowed, and the result is
    /// decoded into any type that owns what it holds,
    /// [`RawBuf`](mcp_proto::json::RawBuf) for the JSON as it came.
    ///
    /// # Errors
    /// The future's are [`CallError`].
    pub fn call<'a, T: DeserializeOwned>(
        &'a self,
        method: Method<'a>,
        params: Option<&'a (dyn Payload + Sync)>,
    ) -> Call<'a, T> {
        Call::new(self, method, params)
    }

    /// Sends a notification of a legacy session, `notifications/roots/list_changed` for one,
    /// when there is room for it.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] for one that is the core's to send, or that the server's
    /// revision does not have; [`SendError::Undeclared`], [`SendError::NotReady`],
    /// [`SendError::Closed`].
    pub async fn notify(
        &self,
        method: Method<'_>,
        params: Option<&(dyn Payload + Sync)>,
    ) -> Result<(), SendError> {
        poll_fn(|cx| {
            self.shared.poll_send(cx, |machine, _, out| {
                machine.notify(method, params.map(|params| -> &dyn Payload { params }), out)
            })
        })
        .await
        .map(|_| ())
    }

    /// Ends the connection: calls in flight end with [`Failure::Closed`], what was said is
    /// written, and then the output is closed, which tells the server (LC-20).
    pub fn close(&self) {
        self.shared.close();
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().ended
    }
}

impl Clone for Client {
    fn clone(&self) -> Self {
        self.shared.lock().handles += 1;
        Self {
            shared: Arc::clone(&self.shared),
            about: Arc::clone(&self.about),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let last = {
            let mut core = self.shared.lock();
            core.handles -= 1;
            core.handles == 0
        };
        if last {
            self.close();
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.about.server.get())
            .finish_non_exhaustive()
    }
}

/// The client's side of the driver.
struct Side {
    about: Arc<About>,
}

impl Role for Side {
    type Machine = Machine;

    const WAITS_FOR_READER: bool = false;
    const DRAINS: bool = false;

    fn dispatch(&mut self, shared: &Arc<Shared<Machine>>, event: Event<'_>) -> Effect {
        let handler = &*self.about.handler;
        match event {
            Event::Connected(connected) => {
                // Only the first is kept: there is one in the life of a client.
                let _ = self.about.server.set(ServerInfo::received(&connected));
                shared.wake_watchers();
            }
            Event::ConnectFailed(error) => {
                let _ = self.about.failed.set(ConnectError::received(&error));
                shared.wake_watchers();
            }
            Event::Answer {
                cookie,
                outcome: Ok(result),
                ..
            } => {
                arrive(shared, cookie, Arrival::Result, Some(result));
            }
            Event::Answer {
                cookie,
                outcome: Err(error),
                ..
            } => {
                arrive(
                    shared,
                    cookie,
                    Arrival::Error(ErrorReply::received(&error)),
                    None,
                );
            }
            Event::Failed {
                cookie, failure, ..
            } => {
                arrive(shared, cookie, Arrival::Failed(failure), None);
            }
            Event::Input {
                cookie,
                requests,
                state,
                ..
            } => {
                let state = state.map(RawBuf::from);
                let arrival = Arrival::Input {
                    asks: requests.is_some(),
                    state,
                };
                arrive(shared, cookie, arrival, requests.map(Object::as_raw));
            }
            Event::Again { cookie, .. } => arrive(shared, cookie, Arrival::Again, None),
            Event::Listening {
                cookie, honoured, ..
            } => {
                let tag = shared.lock().places.tag(cookie);
                guarded(|| handler.listening(tag, honoured));
            }
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let tag = shared.lock().places.tag(cookie);
                guarded(|| {
                    handler.progress(
                        tag,
                        Progress {
                            progress,
                            total,
                            message,
                        },
                    );
                });
            }
            Event::Notification {
                subscription,
                notification,
            } => {
                let tag = subscription.map(|(_, cookie)| shared.lock().places.tag(cookie));
                guarded(|| handler.notified(notification, tag));
            }
            Event::Question {
                token,
                method,
                params,
            } => {
                let params = params.unwrap_or_default();
                let question = Question {
                    key: None,
                    method,
                    params,
                };
                return match guarded(|| handler.question(question)) {
                    Some(reply) => Effect::Start(token, answer(shared, token, reply)),
                    None => Effect::Panicked(token),
                };
            }
            Event::QuestionCancelled { token, .. } => return Effect::Cancel(token),
            Event::PingMissed { misses, limit } => {
                guarded(|| handler.ping_missed(misses, limit));
            }
            Event::Unusable(what) => {
                guarded(|| handler.unusable(what));
            }
            Event::Closed(_) => return Effect::Close,
            _ => {}
        }
        Effect::Nothing
    }
}

impl Respond for Core<'_, Growing> {
    type Failure = Failure;

    fn respond(
        &mut self,
        _now: Instant,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        Self::respond(self, token, outcome, out)
    }

    fn abandon(&mut self, token: Token) {
        self.cancel(token);
    }

    fn stop(&mut self, now: Instant) {
        self.hang_up(now);
    }
}

impl ServerInfo {
    fn received(connected: &Connected<'_>) -> Self {
        let owned = |object: Object<'_>| RawBuf::from(object.as_raw());
        Self {
            revision: connected.revision,
            server: connected.server.map(owned),
            capabilities: connected.capabilities.map(owned),
            instructions: connected
                .instructions
                .map(|text| text.to_cow().into_owned()),
        }
    }
}

impl ConnectError {
    fn received(error: &CoreError<'_>) -> Self {
        match error {
            CoreError::Revision { offered, accepted } => Self::Revision {
                offered: RawBuf::from(*offered),
                accepted: *accepted,
            },
            CoreError::Refused(error) => Self::Refused(ErrorReply::received(error)),
            CoreError::Answer => Self::Answer,
            CoreError::Expired => Self::Expired,
            CoreError::Nothing => Self::Nothing,
            _ => Self::Closed,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision { offered, accepted } => CoreError::Revision {
                offered: offered.as_raw(),
                accepted: *accepted,
            }
            .fmt(f),
            Self::Refused(error) => write!(f, "the server refused: {error}"),
            Self::Answer => CoreError::Answer.fmt(f),
            Self::Expired => CoreError::Expired.fmt(f),
            Self::Closed => CoreError::Closed.fmt(f),
            Self::Nothing => CoreError::Nothing.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {}

/// Puts down what is new about a call, and wakes whoever waits for it.
fn arrive(shared: &Shared<Machine>, cookie: u64, arrival: Arrival<Failure>, raw: Option<Raw<'_>>) {
    let waker: Option<Waker> = shared.lock().places.put(cookie, arrival, raw);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The job that answers a question of a legacy server.
fn answer(shared: &Arc<Shared<Machine>>, token: Token, reply: Reply) -> Job {
    let shared = Arc::clone(shared);
    Job::from_future(async move {
        let replied = reply.await;
        poll_fn(move |cx| {
            let outcome = match &replied {
                Ok(value) => Outcome::Result(&**value),
                Err(error) => Outcome::Error(error.as_object()),
            };
            shared.poll_respond(cx, token, outcome)
        })
        .await
    })
}

/// Calls the handler; `None` if it panicked.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(discard).ok()
}

/// Long enough for a server that reads, too short to notice at the end of a program.
const GRACE: Duration = Duration::from_secs(1);
