//! A server behind a proxy, and the session in which its lists are read.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mcp_async::Client;
use mcp_async::Instant;
use mcp_async::model::ServerFeatures;
use mcp_async::runtime::{BoxFuture, RuntimeHandle};
use mcp_async::server::HandlerError;

use super::asker::ProxyCaller;
use super::sessions::Session;
use crate::entry::ServerEntry;
use crate::watch::Watch;

/// A server behind a proxy.
pub(super) struct Upstream {
    pub(super) name: Arc<str>,
    pub(super) entry: ServerEntry,
    /// Makes the entry by which a caller reaches the server, if each has its own.
    pub(super) caller_entry: Option<Arc<CallerEntry>>,
    state: Watch<Main>,
    /// The time of the last call, in milliseconds.
    used: AtomicU64,
    /// All sessions, those that are dropped included.
    sessions: Watch<Vec<Weak<Session>>>,
    /// True if the server may suggest values.
    completes: AtomicBool,
}

/// Makes the entry of a server for a caller.
pub(super) type CallerEntry =
    dyn Fn(ProxyCaller) -> BoxFuture<'static, Result<ServerEntry, HandlerError>> + Send + Sync;

/// The session that callers share which declare nothing. Its client reads the lists.
#[derive(Default)]
pub(super) enum Main {
    #[default]
    Connecting,
    Ready(Arc<Session>),
    /// There was no call for long.
    Resting,
    Failed(String),
    /// The server was removed, or the proxy is over.
    Removed,
}

/// The state of a server behind a [`Proxy`](super::Proxy).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamState {
    /// It is being connected.
    Connecting,
    /// It is connected, and its lists were read.
    Ready,
    /// It has had no call for long, and is connected again for the next one.
    Resting,
    /// It cannot be reached, for this reason, or has ended. It is connected again after a pause.
    Failed(String),
}

impl Upstream {
    pub(super) fn new(entry: ServerEntry, caller_entry: Option<Arc<CallerEntry>>) -> Arc<Self> {
        Arc::new(Self {
            name: entry.name().into(),
            entry,
            caller_entry,
            state: Watch::default(),
            used: AtomicU64::new(0),
            sessions: Watch::default(),
            completes: AtomicBool::new(false),
        })
    }

    pub(super) fn state(&self) -> UpstreamState {
        self.state.read(|main| match main {
            Main::Connecting => UpstreamState::Connecting,
            Main::Ready(_) => UpstreamState::Ready,
            Main::Resting => UpstreamState::Resting,
            Main::Failed(reason) => UpstreamState::Failed(reason.clone()),
            Main::Removed => UpstreamState::Failed("it was removed".to_owned()),
        })
    }

    /// Waits until the lists were read, or the first attempt has failed.
    pub(super) async fn settled(&self) {
        let is_settled = |main: &Main| (!matches!(main, Main::Connecting)).then_some(());
        self.state.find(is_settled).await;
    }

    /// Returns the session that all callers may share, if there is one now.
    pub(super) fn main_now(&self) -> Option<Arc<Session>> {
        self.state.read(|main| match main {
            Main::Ready(session) => Some(Arc::clone(session)),
            _ => None,
        })
    }

    /// Returns the session that all callers may share, as soon as there is one; `None` if the server cannot be reached now.
    pub(super) async fn main(&self) -> Option<Arc<Session>> {
        self.state.change(|main| {
            if let Main::Resting = main {
                *main = Main::Connecting;
            }
        });
        self.state
            .find(|main| match main {
                Main::Connecting | Main::Resting => None,
                Main::Ready(session) => Some(Some(Arc::clone(session))),
                Main::Failed(_) | Main::Removed => Some(None),
            })
            .await
    }

    /// Returns the client that reads the lists, if there is one now.
    pub(super) fn client(&self) -> Option<Client> {
        self.main_now().map(|session| session.client.clone())
    }

    /// Returns true if the server may suggest values: it declares that, or its revision has no such declaration.
    pub(super) fn completes(&self) -> bool {
        self.completes.load(Ordering::Acquire)
    }

    /// Notes, before its lists are read, what the server declares.
    pub(super) fn note(&self, client: &Client) {
        let (info, declared) = (client.info(), ServerFeatures::COMPLETIONS);
        let completes =
            info.features.contains(declared) || declared.known_in(info.revision).is_empty();
        self.completes.store(completes, Ordering::Release);
    }

    /// Adds a session, which ends when the server is removed. Returns false if it was.
    pub(super) fn adds(&self, session: &Arc<Session>) -> bool {
        self.sessions.change(|sessions| {
            sessions.retain(|session| session.strong_count() > 0);
            sessions.push(Arc::downgrade(session));
        });
        self.state.read(|main| !matches!(main, Main::Removed))
    }

    /// Returns the sessions that there are.
    pub(super) fn sessions(&self) -> Vec<Arc<Session>> {
        self.sessions
            .read(|sessions| sessions.iter().filter_map(Weak::upgrade).collect())
    }

    /// Ends all sessions, for ever.
    pub(super) fn remove(&self, runtime: &RuntimeHandle) {
        let before = self
            .state
            .change(|main| core::mem::replace(main, Main::Removed));
        drop(before);
        for session in self.sessions() {
            session.end(runtime);
        }
    }

    /// Notes a call.
    pub(super) fn note_use(&self, now: Instant) {
        self.used.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Ends the session that callers share if none has used it since this time and it is not kept for a task; the next call connects the
    /// server again.
    pub(super) fn rest(&self, since: Instant, runtime: &RuntimeHandle) {
        let is_used = self.used.load(Ordering::Relaxed) >= since.as_millis();
        let now = runtime.now();
        let is_idle = |session: &Arc<Session>| {
            !is_used && !session.is_kept(now) && Arc::strong_count(session) == 1
        };
        let ended = self.state.change(|main| match main {
            Main::Ready(session) if is_idle(session) => {
                Some(core::mem::replace(main, Main::Resting))
            }
            _ => None,
        });
        if let Some(Main::Ready(session)) = ended {
            session.end(runtime);
        }
    }

    /// Waits until the session that callers share is not to be kept.
    pub(super) async fn unwanted(&self) {
        let is_unwanted = |main: &Main| matches!(main, Main::Removed | Main::Resting).then_some(());
        self.state.find(is_unwanted).await;
    }

    /// Waits until the server is to be connected again. Returns false if it was removed.
    pub(super) async fn wanted(&self) -> bool {
        self.state
            .find(|main| match main {
                Main::Resting => None,
                Main::Removed => Some(false),
                _ => Some(true),
            })
            .await
    }

    /// Waits until the server was removed.
    pub(super) async fn removed(&self) {
        let is_removed = |main: &Main| matches!(main, Main::Removed).then_some(());
        self.state.find(is_removed).await;
    }

    /// Returns false if the server was removed meanwhile.
    pub(super) fn set(&self, next: Main) -> bool {
        let before = self.state.change(|main| match main {
            Main::Removed => Err(next),
            _ => Ok(core::mem::replace(main, next)),
        });
        before.is_ok()
    }
}
