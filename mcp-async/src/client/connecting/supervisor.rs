//! The task of a client: runs the connection, and reconnects.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::{Arc, Weak};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::PreparedConfig;
use mcp_proto::client::{ClientConfig, Negotiation};
use mcp_proto::rpc::Method;

use crate::client::callbacks::roots;
use crate::client::session::exchange::{Exchange, Options, Rounds, Terms};
use crate::client::session::info::ServerInfo;
use crate::client::session::peer::notify;
use crate::client::session::restart::RestartPolicy;
use crate::client::state::ClientState;
use crate::client::state::ask::Ask;
use crate::client::state::child_end::ChildEnd;
use crate::client::state::inner::{ClientShared, Exit, Inner};
use crate::client::{Peer, connect};
use crate::connection::PendingRequest;
use crate::error::{CallError, ConnectError};
use crate::runtime::BoxFuture;
use crate::runtime::{RuntimeHandle, Sleep};

/// A connection that stands, and the future that runs it to its end.
pub(crate) struct Dialled {
    pub(in crate::client) peer: Peer,
    pub(in crate::client) server: Arc<ServerInfo>,
    /// Of a server that is a child process.
    pub(in crate::client) child: Option<Arc<ChildEnd>>,
    pub(in crate::client) run: BoxFuture<'static, Exit>,
}

/// Makes a connection, as often as it is asked to, and meets the server in this way.
pub(super) type Dial = Box<dyn Fn(Arc<ClientState>, Negotiation) -> Dialling + Send + Sync>;

/// The future of one attempt to connect.
pub(crate) type Dialling = BoxFuture<'static, Result<Dialled, ConnectError>>;

/// The means to make the next connection.
pub(in crate::client) struct Redial {
    pub(in crate::client) dial: Dial,
    pub(in crate::client) policy: RestartPolicy,
    /// The negotiation with a server whose revision is not known.
    pub(in crate::client) negotiation: Negotiation,
}

impl Dialled {
    /// Of a connection that is ready.
    pub(crate) fn new(peer: Peer, run: BoxFuture<'static, Exit>) -> Result<Self, ConnectError> {
        let server = peer.server().cloned().ok_or(ConnectError::Closed)?;
        Ok(Self {
            peer,
            server: Arc::new(server),
            child: None,
            run,
        })
    }

    /// Adds the end of a server that is a child process.
    pub(super) fn with_child(self, end: Arc<ChildEnd>) -> Self {
        Self {
            child: Some(end),
            ..self
        }
    }
}

/// Speaks to a server over these streams, as soon as it is known who it is.
pub(in crate::client) async fn open_connection<R, W>(
    streams: (R, W),
    config: PreparedConfig<ClientConfig<'static>>,
    client_state: Arc<ClientState>,
) -> Result<Dialled, ConnectError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (mut connection, peer) = connect(
        streams,
        &client_state.runtime,
        config,
        Arc::clone(&client_state),
    );
    peer.run_until_ready(|cx| Pin::new(&mut connection).poll(cx))
        .await?;
    let run = Box::pin(async move { connection.await.map(|()| None) });
    Dialled::new(peer, run)
}

/// Runs the connection and what follows it, until the last handle is dropped, the client is
/// closed, or no further connection can be made.
pub(super) async fn supervise(
    inner: Weak<Inner>,
    client_state: Arc<ClientState>,
    run: BoxFuture<'static, Exit>,
    redial: Option<Redial>,
) {
    let mut supervisor = Supervisor {
        inner,
        client_state,
        exit: None,
    };
    let mut next = Next {
        run,
        jobs: Vec::new(),
    };
    let mut attempts = 0;
    loop {
        let began = supervisor.runtime().now();
        supervisor.exit = Some(supervisor.run(next).await);
        let Some(redial) = &redial else { return };
        let Some(inner) = supervisor.inner.upgrade().filter(|inner| inner.restarts()) else {
            return;
        };
        inner.down();
        supervisor.client_state.background.clear();
        supervisor.client_state.forget();
        drop(inner);
        if supervisor.runtime().now().saturating_since(began) >= redial.policy.steady() {
            attempts = 0;
        }
        let Some(dialled) = supervisor.redial(redial, &mut attempts).await else {
            return;
        };
        next = dialled;
    }
}

/// A connection to run, and what runs for as long as it lasts.
struct Next {
    run: BoxFuture<'static, Exit>,
    jobs: Vec<BoxFuture<'static, ()>>,
}

struct Supervisor {
    /// The handles of the client; the supervisor does not keep it alive.
    inner: Weak<Inner>,
    client_state: Arc<ClientState>,
    exit: Option<Exit>,
}

impl Supervisor {
    fn runtime(&self) -> &RuntimeHandle {
        &self.client_state.runtime
    }

    /// Runs a connection to its end, and tells the server what is owed to it meanwhile.
    async fn run(&self, Next { mut run, mut jobs }: Next) -> Exit {
        let (mut tidying, mut renewing) = (pin!(self.tidy()), pin!(self.renew()));
        let mut checking = pin!(self.check_roots());
        let (mut tidy, mut renewed, mut checked) = (false, false, false);
        let mut sending = Vec::new();
        poll_fn(|cx| {
            self.poll_owed_requests(&mut sending, cx);
            self.client_state.background.poll(&mut jobs, cx);
            tidy = tidy || tidying.as_mut().poll(cx).is_ready();
            renewed = renewed || renewing.as_mut().poll(cx).is_ready();
            checked = checked || checking.as_mut().poll(cx).is_ready();
            run.as_mut().poll(cx)
        })
        .await
    }

    /// Unsubscribes from a legacy server's resources that are no longer needed.
    async fn tidy(&self) {
        loop {
            let uri = poll_fn(|cx| self.client_state.poll_owed(cx)).await;
            let shared = match self.inner.upgrade().and_then(|inner| inner.peer()) {
                Some(peer) => Arc::clone(&peer.shared),
                None => return,
            };
            let end = Ask::Unsubscribe(uri.clone());
            // A server that does not know it any more has what it was to be told.
            let _ = send(&self.client_state, Arc::clone(&shared), end).await;
            // The server may have handled a request to subscribe again, sent meanwhile, before this one.
            if self.client_state.subscriptions.lock().is_needed(&uri) {
                let _ = send(&self.client_state, shared, Ask::Subscribe(uri)).await;
            }
        }
    }

    /// Notifies a legacy server of roots that have vanished or are there again.
    async fn check_roots(&self) {
        let callbacks = &self.client_state.callbacks;
        let Some(interval) = callbacks.root_check else {
            return;
        };
        let look = || roots::check(self.runtime().clone(), callbacks.roots.listed());
        let mut known = look().await;
        loop {
            let mut pause = Sleep::after(self.runtime(), interval);
            poll_fn(|cx| pause.poll_done(cx)).await;
            let seen = look().await;
            if roots::differ(&known, &seen) {
                let shared = match self.inner.upgrade().and_then(|inner| inner.peer()) {
                    Some(peer) => Arc::clone(&peer.shared),
                    None => return,
                };
                // A server that cannot be notified requests the roots whenever it needs them.
                let _ = notify(&shared, Method::RootsListChanged, None).await;
            }
            known = seen;
        }
    }

    /// Sends the requests that no caller waits for, some at once.
    fn poll_owed_requests(&self, sending: &mut Vec<BoxFuture<'static, ()>>, cx: &mut Context<'_>) {
        sending.retain_mut(|request| request.as_mut().poll(cx).is_pending());
        while sending.len() < AT_ONCE
            && let Poll::Ready(owed) = self.client_state.owed.poll_next(cx)
        {
            let client_state = Arc::clone(&self.client_state);
            let sent = Sent(Arc::clone(&client_state));
            let inner = Weak::clone(&self.inner);
            let mut request: BoxFuture<'static, ()> = Box::pin(async move {
                let (_sent, _client) = (sent, owed.client);
                if let Some(peer) = inner.upgrade().and_then(|inner| inner.peer()) {
                    let shared = Arc::clone(&peer.shared);
                    let options = Options {
                        timeout: Some(PATIENCE),
                        ..Options::default()
                    };
                    // Its answer, or its failure, is of no interest.
                    let _ = send_with(&client_state, shared, owed.ask, options).await;
                }
            });
            if request.as_mut().poll(cx).is_pending() {
                sending.push(request);
            }
        }
    }

    /// Tells each session that took the place of a lost one what the one before it knew.
    async fn renew(&self) {
        loop {
            let server = poll_fn(|cx| self.client_state.poll_renewed(cx)).await;
            let shared = {
                let Some(inner) = self.inner.upgrade() else {
                    return;
                };
                inner.renewed(Arc::new(server));
                match inner.peer() {
                    Some(peer) => Arc::clone(&peer.shared),
                    None => continue,
                }
            };
            self.client_state.forget();
            self.restore(Arc::clone(&shared)).await;
            // If it was lost meanwhile, the one after it knows nothing yet.
            if !self.client_state.is_renewed() {
                shared.command(|machine, _| machine.release());
                shared.wake_watchers();
            }
            self.client_state.reconnected();
        }
    }

    /// Makes the next connection and restores what the server is to know; `None` if there is
    /// none, or if no handle is left.
    async fn redial(&self, redial: &Redial, attempts: &mut u32) -> Option<Next> {
        let mut legacy = self.inner.upgrade()?.server().revision.is_legacy();
        loop {
            if redial.policy.is_spent(*attempts) {
                return None;
            }
            self.pause(redial.policy.delay(*attempts)).await?;
            *attempts += 1;
            // VR-17: the era is remembered, until it turns out to be another one.
            let negotiation = if core::mem::take(&mut legacy) {
                Negotiation::Handshake
            } else {
                redial.negotiation
            };
            // Of an attempt that failed.
            self.client_state.background.clear();
            let dialled = (redial.dial)(Arc::clone(&self.client_state), negotiation).await;
            let Ok(Dialled {
                peer,
                server,
                child,
                mut run,
            }) = dialled
            else {
                continue;
            };
            legacy = server.revision.is_legacy();
            let mut jobs = Vec::new();
            let restored = {
                let mut restoring = pin!(self.restore(Arc::clone(&peer.shared)));
                poll_fn(|cx| {
                    // A server may ask before it answers.
                    self.client_state.background.poll(&mut jobs, cx);
                    match run.as_mut().poll(cx) {
                        Poll::Ready(_) => Poll::Ready(false),
                        Poll::Pending => restoring.as_mut().poll(cx).map(|()| true),
                    }
                })
                .await
            };
            if !restored {
                continue;
            }
            let Some(inner) = self.inner.upgrade() else {
                // Its orderly end is the last that there is to do.
                drop(peer);
                let _ = run.await;
                return None;
            };
            inner.up(peer, server, child);
            self.client_state.reconnected();
            return Some(Next { run, jobs });
        }
    }

    /// SB-10: what a session knows dies with it.
    async fn restore(&self, shared: Arc<ClientShared>) {
        let uris = self.client_state.subscriptions.lock().restore();
        let revision = shared.lock().machine.revision();
        if revision.is_none_or(mcp_proto::Revision::is_modern) {
            return;
        }
        let level = self.client_state.level().map(Ask::SetLevel);
        for ask in level
            .into_iter()
            .chain(uris.into_iter().map(Ask::Subscribe))
        {
            // A server that refuses it now has changed; the connection is good all the same.
            let _ = send(&self.client_state, Arc::clone(&shared), ask).await;
        }
    }

    /// Waits; `None` if there is nothing to wait for any more.
    async fn pause(&self, delay: core::time::Duration) -> Option<()> {
        let runtime = self.runtime();
        let due = self.client_state.earliest(runtime.now() + delay);
        let (mut pause, mut closing) = (Sleep::until(runtime, due), None);
        poll_fn(|cx| {
            let Some(inner) = self.inner.upgrade() else {
                return Poll::Ready(None);
            };
            if inner.poll_closing(cx, &mut closing).is_ready() {
                return Poll::Ready(None);
            }
            pause.poll_done(cx).map(Some)
        })
        .await
    }
}

/// A request that was sent: when it is dropped, it is answered, or will not be.
struct Sent(Arc<ClientState>);

impl Drop for Sent {
    fn drop(&mut self) {
        self.0.owed.answered();
    }
}

/// However the task ends, dropped included: waiting tasks are released.
impl Drop for Supervisor {
    fn drop(&mut self) {
        match self.inner.upgrade() {
            Some(inner) => inner.over(self.exit.take()),
            None => self.client_state.end(),
        }
    }
}

/// Requests that are sent at once, so that one that is not answered does not hold up all others.
const AT_ONCE: usize = 16;
/// The longest wait for the answer to such a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request of the client's own.
async fn send(
    client_state: &ClientState,
    shared: Arc<ClientShared>,
    ask: Ask<'static>,
) -> Result<(), CallError> {
    send_with(client_state, shared, ask, Options::default()).await
}

async fn send_with(
    client_state: &ClientState,
    shared: Arc<ClientShared>,
    ask: Ask<'static>,
    options: Options<'static>,
) -> Result<(), CallError> {
    let mut exchange = Exchange::new(PendingRequest::shared(shared));
    let buffer = poll_fn(|cx| {
        let terms = Terms {
            method: ask.method(),
            params: ask.params(),
            options,
            progress: false,
            subject: ask.subject(),
            tag: 0,
            handler: client_state,
            rounds: Rounds::Asked(0),
        };
        exchange.poll(cx, &terms, &mut |_| {})
    })
    .await?;
    exchange.leave(buffer);
    Ok(())
}
