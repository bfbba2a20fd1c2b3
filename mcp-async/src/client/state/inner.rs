//! State that all handles of a client share: the current connection.

use core::future::poll_fn;
use core::task::{Context, Poll};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use super::ClientState;
use super::child_end::ChildEnd;
use super::connection_state::ConnectionState;
use super::extensions::Extensions;
use crate::client::session::info::ServerInfo;
use crate::client::{Machine, Peer};
use crate::connection::Shared;
use crate::error::CallError;
use crate::sync::{Lock, Waiters};

pub(crate) type ClientShared = Shared<Machine>;

/// The end of the last connection; a child has a status.
pub(in crate::client) type Exit = io::Result<Option<ExitStatus>>;

pub(crate) struct Inner {
    pub(crate) client_state: Arc<ClientState>,
    pub(in crate::client) extensions: Extensions<Self>,
    restarts: bool,
    state: Lock<State>,
}

/// A connection, and how many there were before it.
pub(in crate::client) struct Link {
    pub(in crate::client) shared: Arc<ClientShared>,
    pub(in crate::client) generation: u64,
    pub(in crate::client) child: Option<Arc<ChildEnd>>,
}

struct State {
    phase: Phase,
    generation: u64,
    server: Arc<ServerInfo>,
    /// The end of the last connection's child, if it has one.
    child: Option<Arc<ChildEnd>>,
    closing: bool,
    exit: Option<Exit>,
    waiting: Waiters,
}

/// ```text
///   Up --the connection ended--> Down --a new one--> Up
///    `---- closed, or no policy ---`--- given up ---> Over
/// ```
enum Phase {
    /// With the handle that keeps the connection open.
    Up(Peer),
    /// Between two connections.
    Down,
    /// For good.
    Over,
}

impl State {
    const fn connection(&self) -> ConnectionState {
        match self.phase {
            _ if self.closing => ConnectionState::Closed,
            Phase::Up(_) => ConnectionState::Connected {
                connections: self.generation,
            },
            Phase::Down => ConnectionState::Reconnecting,
            Phase::Over => ConnectionState::Closed,
        }
    }
}

impl Inner {
    pub(in crate::client) fn new(
        client_state: Arc<ClientState>,
        extensions: Extensions<Self>,
        peer: Peer,
        server: Arc<ServerInfo>,
        child: Option<Arc<ChildEnd>>,
        restarts: bool,
    ) -> Self {
        Self {
            client_state,
            extensions,
            restarts,
            state: Lock::new(State {
                phase: Phase::Up(peer),
                generation: 1,
                server,
                child,
                closing: false,
                exit: None,
                waiting: Waiters::new(),
            }),
        }
    }

    /// A connection later than the one of this number, when there is one.
    pub(in crate::client) fn poll_link(
        &self,
        cx: &Context<'_>,
        after: u64,
    ) -> Poll<Result<Link, CallError>> {
        let mut state = self.state.lock();
        match &state.phase {
            Phase::Up(peer) if state.generation > after => Poll::Ready(Ok(Link {
                shared: Arc::clone(&peer.shared),
                generation: state.generation,
                child: state.child.clone(),
            })),
            Phase::Over => Poll::Ready(Err(CallError::Closed)),
            _ if state.closing => Poll::Ready(Err(CallError::Closed)),
            _ => {
                state.waiting.register(cx);
                Poll::Pending
            }
        }
    }

    /// Returns true if a connection that ends is followed by another.
    pub(in crate::client) fn restarts(&self) -> bool {
        self.restarts && !self.state.lock().closing
    }

    pub(in crate::client) fn generation(&self) -> u64 {
        self.state.lock().generation
    }

    /// Returns the state of the connection as soon as it is not `seen`.
    pub(in crate::client) fn poll_state(
        &self,
        cx: &Context<'_>,
        seen: ConnectionState,
    ) -> Poll<ConnectionState> {
        let mut state = self.state.lock();
        let now = state.connection();
        if now != seen {
            return Poll::Ready(now);
        }
        state.waiting.register(cx);
        Poll::Pending
    }

    pub(in crate::client) fn connection(&self) -> ConnectionState {
        self.state.lock().connection()
    }

    pub(in crate::client) fn server(&self) -> Arc<ServerInfo> {
        Arc::clone(&self.state.lock().server)
    }

    /// Returns the end of the last connection's child; `None` without a child, or after a close.
    pub(in crate::client) fn child(&self) -> Option<Arc<ChildEnd>> {
        let state = self.state.lock();
        state.child.clone().filter(|_| !state.closing)
    }

    pub(in crate::client) fn is_closed(&self) -> bool {
        let state = self.state.lock();
        state.closing || matches!(state.phase, Phase::Over)
    }

    pub(in crate::client) fn peer(&self) -> Option<Peer> {
        match &self.state.lock().phase {
            Phase::Up(peer) => Some(peer.clone()),
            Phase::Down | Phase::Over => None,
        }
    }

    /// Asks for the end, once and for all.
    pub(in crate::client) fn begin_close(&self) {
        let (peer, waiting) = {
            let mut state = self.state.lock();
            state.closing = true;
            let peer = match &state.phase {
                Phase::Up(peer) => Some(peer.clone()),
                Phase::Down | Phase::Over => None,
            };
            (peer, state.waiting.take())
        };
        if let Some(peer) = peer {
            peer.close();
        }
        waiting.wake();
    }

    /// Resolves when the last connection is over.
    pub(in crate::client) async fn ended(&self) -> Exit {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            if let Phase::Over = state.phase {
                return Poll::Ready(state.exit.take().unwrap_or(Ok(None)));
            }
            state.waiting.register(cx);
            Poll::Pending
        })
        .await
    }

    /// Ready when the end was requested.
    pub(in crate::client) fn poll_closing(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.closing {
            return Poll::Ready(());
        }
        state.waiting.register(cx);
        Poll::Pending
    }

    /// The connection continues with a server that may have changed.
    pub(in crate::client) fn renewed(&self, server: Arc<ServerInfo>) {
        let _old = core::mem::replace(&mut self.state.lock().server, server);
    }

    /// The connection is over, and another is to come.
    pub(in crate::client) fn down(&self) {
        self.enter(Phase::Down, |_| {});
    }

    pub(in crate::client) fn up(
        &self,
        peer: Peer,
        server: Arc<ServerInfo>,
        child: Option<Arc<ChildEnd>>,
    ) {
        self.enter(Phase::Up(peer), |state| {
            state.generation += 1;
            state.server = server;
            state.child = child;
        });
        if self.state.lock().closing {
            self.begin_close();
        }
    }

    pub(in crate::client) fn over(&self, exit: Option<Exit>) {
        self.enter(Phase::Over, |state| {
            if exit.is_some() {
                state.exit = exit;
            }
        });
        self.client_state.end();
    }

    fn enter(&self, phase: Phase, change: impl FnOnce(&mut State)) {
        // The old handle is dropped outside the lock: it takes its own.
        let (_old, waiting) = {
            let mut state = self.state.lock();
            change(&mut state);
            let old = core::mem::replace(&mut state.phase, phase);
            (old, state.waiting.take())
        };
        waiting.wake();
    }
}
