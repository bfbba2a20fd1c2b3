//! A server behind a proxy, and the session in which its lists are read.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::{Arc, Weak};

use mcp_async::client::{ConnectError, Subscription};
use mcp_async::model::{ClientFeatures, ServerFeatures};
use mcp_async::{Client, ErrorChain};

use super::bridge::Caller;
use super::held::sleep;
use super::running::Running;
use super::sessions::{OpenError, Session};
use crate::catalog::Lists;
use crate::entry::ServerEntry;
use crate::watch::Watch;

/// A server behind a proxy.
pub(super) struct Upstream {
    pub(super) name: Arc<str>,
    pub(super) entry: ServerEntry,
    state: Watch<Main>,
}

/// The session that callers share which declare nothing. Its client reads the lists.
#[derive(Default)]
enum Main {
    #[default]
    Connecting,
    Ready(Arc<Session>),
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
    /// It cannot be reached, for this reason, or has ended. It is connected again after a pause.
    Failed(String),
}

impl Upstream {
    pub(super) fn new(entry: ServerEntry) -> Arc<Self> {
        Arc::new(Self {
            name: entry.name().into(),
            entry,
            state: Watch::default(),
        })
    }

    pub(super) fn state(&self) -> UpstreamState {
        self.state.read(|main| match main {
            Main::Connecting => UpstreamState::Connecting,
            Main::Ready(_) => UpstreamState::Ready,
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
        self.state
            .find(|main| match main {
                Main::Connecting => None,
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
        let declared = ServerFeatures::COMPLETIONS;
        self.client().is_some_and(|client| {
            let info = client.info();
            info.features.contains(declared) || declared.known_in(info.revision).is_empty()
        })
    }

    /// Ends the session, for ever.
    pub(super) fn remove(&self) {
        let before = self
            .state
            .change(|main| core::mem::replace(main, Main::Removed));
        drop(before);
    }

    /// Waits until the server was removed.
    pub(super) async fn removed(&self) {
        let is_removed = |main: &Main| matches!(main, Main::Removed).then_some(());
        self.state.find(is_removed).await;
    }

    /// Returns false if the server was removed meanwhile.
    fn set(&self, next: Main) -> bool {
        let before = self.state.change(|main| match main {
            Main::Removed => Err(next),
            _ => Ok(core::mem::replace(main, next)),
        });
        before.is_ok()
    }
}

/// Keeps the server connected and its lists fresh, until it is removed or the proxy is over.
pub(super) async fn keep(running: Weak<Running>, upstream: Arc<Upstream>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(proxy) = running.upgrade() else {
            return;
        };
        let opened = until(upstream.removed(), open(&proxy, &upstream)).await;
        let Some(opened) = opened else { return };
        let reason = match opened {
            Ok((session, changes)) => {
                let client = session.client.clone();
                if !upstream.set(Main::Ready(session)) {
                    return;
                }
                pause = FIRST_PAUSE;
                drop(proxy);
                let followed = follow(&running, &upstream, &client, changes);
                if until(upstream.removed(), followed).await.is_none() {
                    return;
                }
                "it has ended".to_owned()
            }
            Err(reason) => {
                drop(proxy);
                reason
            }
        };
        if !upstream.set(Main::Failed(reason)) {
            return;
        }
        let Some(proxy) = running.upgrade() else {
            return;
        };
        if !proxy.keeps_items {
            proxy.catalog.remove(&upstream.name);
            proxy.catalog.declare(&upstream.name);
        }
        let runtime = proxy.runtime.clone();
        drop(proxy);
        if until(upstream.removed(), sleep(&runtime, pause))
            .await
            .is_none()
        {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Connects, and reads the lists.
async fn open(
    proxy: &Arc<Running>,
    upstream: &Upstream,
) -> Result<(Arc<Session>, Option<Subscription>), String> {
    let opened = proxy
        .open(upstream, ClientFeatures::NONE, Caller::Nobody, None)
        .await;
    let session = opened.map_err(|error| match error {
        OpenError::Full => "there are too many sessions".to_owned(),
        OpenError::Failed(error) => describe(&error),
    })?;
    // Before the lists are read, so that no change is missed.
    let changes = session.client.changes().await.ok();
    let failed = proxy
        .catalog
        .refresh(&upstream.name, &session.client, Lists::ALL)
        .await;
    match failed.into_iter().next() {
        Some(error) => Err(ErrorChain(&error).to_string()),
        None => Ok((Arc::new(session), changes)),
    }
}

/// Reads lists again that have changed, until the connection ends.
async fn follow(
    running: &Weak<Running>,
    upstream: &Upstream,
    client: &Client,
    changes: Option<Subscription>,
) {
    let Some(mut changes) = changes else {
        // Its lists do not change.
        let _ = client.closed().await;
        return;
    };
    while let Some(update) = changes.next().await {
        let lists = Lists::from(&update);
        let Some(proxy) = running.upgrade() else {
            return;
        };
        if lists != Lists::NONE {
            // What cannot be read stays as it was.
            proxy.catalog.refresh(&upstream.name, client, lists).await;
        }
    }
    let _ = client.closed().await;
}

/// Returns the output of `work`, or `None` once `end` is ready.
pub(super) async fn until<T>(
    end: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| {
        if end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}

fn describe(error: &ConnectError) -> String {
    ErrorChain(error).to_string()
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
