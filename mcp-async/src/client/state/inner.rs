//! State that all handles of a client share: the current connection.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use super::ClientState;
use super::child_end::ChildEnd;
use super::connection_state::ConnectionState;
use super::extensions::Extensions;
use crate::client::session::info::ServerInfo;
use crate::client::{Machine, Peer};
use crate::connection::{Notified, Notify, Shared};
use crate::error::CallError;
use crate::sync::Lock;

pub(crate) type ClientShared = Shared<Machine>;

/// The end of the last connection; a child has a status.
pub(in crate::client) type Exit = io::Result<Option<ExitStatus>>;

pub(crate) struct Inner {
    pub(crate) client_state: Arc<ClientState>,
    pub(in crate::client) extensions: Extensions<Self>,
    restarts: bool,
    state: Lock<State>,
    /// Notifies of each change of the phase, and of a request for the end.
    changed: Notify,
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
            }),
            changed: Notify::default(),
        }
    }

    /// Returns what `read` makes of the state, as soon as that is something; `wait` is the place of the task until then.
    fn poll_when<T>(
        &self,
        cx: &mut Context<'_>,
        wait: &mut Option<Notified>,
        mut read: impl FnMut(&mut State) -> Option<T>,
    ) -> Poll<T> {
        loop {
            let place = {
                let mut state = self.state.lock();
                if let Some(value) = read(&mut state) {
                    return Poll::Ready(value);
                }
                wait.get_or_insert_with(|| self.changed.notified())
            };
            ready!(Pin::new(place).poll(cx));
            *wait = None;
        }
    }

    async fn when<T>(&self, mut read: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut wait = None;
        poll_fn(|cx| self.poll_when(cx, &mut wait, &mut read)).await
    }

    /// Returns a connection later than the one of this number, when there is one; `wait` is the place of the task until
    /// then.
    pub(in crate::client) fn poll_link(
        &self,
        cx: &mut Context<'_>,
        after: u64,
        wait: &mut Option<Notified>,
    ) -> Poll<Result<Link, CallError>> {
        self.poll_when(cx, wait, |state| match &state.phase {
            Phase::Up(peer) if state.generation > after => Some(Ok(Link {
                shared: Arc::clone(&peer.shared),
                generation: state.generation,
                child: state.child.clone(),
            })),
            Phase::Over => Some(Err(CallError::Closed)),
            _ if state.closing => Some(Err(CallError::Closed)),
            _ => None,
        })
    }

    /// Returns true if a connection that ends is followed by another.
    pub(in crate::client) fn restarts(&self) -> bool {
        self.restarts && !self.state.lock().closing
    }

    pub(in crate::client) fn generation(&self) -> u64 {
        self.state.lock().generation
    }

    /// Returns the state of the connection as soon as it is not `seen`.
    pub(in crate::client) async fn connection_change(
        &self,
        seen: ConnectionState,
    ) -> ConnectionState {
        self.when(|state| Some(state.connection()).filter(|now| *now != seen))
            .await
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
        let peer = {
            let mut state = self.state.lock();
            state.closing = true;
            match &state.phase {
                Phase::Up(peer) => Some(peer.clone()),
                Phase::Down | Phase::Over => None,
            }
        };
        if let Some(peer) = peer {
            peer.close();
        }
        self.changed.notify_waiters();
    }

    /// Resolves when the last connection is over.
    pub(in crate::client) async fn ended(&self) -> Exit {
        self.when(|state| match state.phase {
            Phase::Over => Some(state.exit.take().unwrap_or(Ok(None))),
            Phase::Up(_) | Phase::Down => None,
        })
        .await
    }

    /// Ready when the end was requested; `wait` is the place of the task until then.
    pub(in crate::client) fn poll_closing(
        &self,
        cx: &mut Context<'_>,
        wait: &mut Option<Notified>,
    ) -> Poll<()> {
        self.poll_when(cx, wait, |state| state.closing.then_some(()))
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
        let _old = {
            let mut state = self.state.lock();
            change(&mut state);
            core::mem::replace(&mut state.phase, phase)
        };
        self.changed.notify_waiters();
    }
}
