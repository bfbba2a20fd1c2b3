//! The handle of an open subscription.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::json::RawBuf;
use mcp_proto::{Payload, Revision, SendError};

use super::context::CallContext;
use super::notify::notify;
use super::peer::Peer;
use super::principal::Principal;
use crate::connection::{discard, register};

/// The client of a subscription whose filter has keys of the application: who it is, and the way to
/// it. A clone is cheap, usable from any task, and no obstacle to the end of the subscription.
///
/// `S` is the state of the server.
pub struct Listener<S = ()> {
    context: CallContext,
    open: Arc<OpenListen>,
    state: Arc<S>,
}

impl<S> Listener<S> {
    pub(super) const fn new(context: CallContext, open: Arc<OpenListen>, state: Arc<S>) -> Self {
        Self {
            context,
            open,
            state,
        }
    }

    /// Gives a judge its state.
    #[cfg(feature = "server")]
    pub(super) fn with_state<T>(self, state: &Arc<T>) -> Listener<T> {
        Listener::new(self.context, self.open, Arc::clone(state))
    }

    /// Returns the state of the server.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Returns the verified client: see [`CallContext::principal`].
    pub const fn principal(&self) -> Option<&Principal> {
        self.context.principal()
    }

    /// Returns the revision of the subscription.
    pub const fn revision(&self) -> Revision {
        self.context.revision()
    }

    /// Returns the settings of an extension that the client declares for the subscription: see
    /// [`CallContext::client_extension`].
    pub fn client_extension(&self, name: &str) -> Option<RawBuf> {
        self.context.client_extension(name)
    }

    /// Returns the value that middleware in front of the HTTP service has put into the extensions
    /// of the request: see [`CallContext::extension`].
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.context.extension()
    }

    /// Returns the connection.
    pub fn peer(&self) -> Peer {
        self.context.peer()
    }

    /// Sends a notification of the subscription, when there is room for it. Its `_meta` names the
    /// subscription (SB-03). `params` is written as an object.
    ///
    /// # Errors
    /// [`SendError::NotReady`] before the subscription is acknowledged: a judge sends by
    /// [`run`](Self::run). [`SendError::Stale`] or [`SendError::Closed`] after its end,
    /// [`SendError::NotInRevision`] for a method that the application does not have,
    /// [`SendError::Encode`].
    pub async fn notify(
        &self,
        method: &str,
        params: &(dyn Payload + Sync),
    ) -> Result<(), SendError> {
        notify(&self.context, method, params).await
    }

    /// Runs a future for as long as the subscription lasts: a source of notifications. It begins
    /// when the subscription is acknowledged, and is dropped with it. The connection polls it, so it
    /// must not block.
    ///
    /// A panic in it ends the subscription with the internal error (-32603).
    pub fn run(&self, source: impl Future<Output = ()> + Send + 'static) {
        self.open.add(Box::pin(source));
    }

    /// Ends the subscription (SB-08).
    pub fn end(&self) {
        let token = self.context.call().0;
        let shared = self.context.peer().shared;
        shared.command(|machine, _| machine.end_listen(token));
        self.open.close();
    }

    /// Resolves when the client or the server has ended the subscription.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + '_ {
        let open = &self.open;
        poll_fn(move |cx| open.poll_closed(cx))
    }

    /// Returns whether the subscription has ended.
    pub fn is_closed(&self) -> bool {
        self.open.lock().closed
    }
}

impl<S> Clone for Listener<S> {
    fn clone(&self) -> Self {
        Self {
            context: self.context.clone(),
            open: Arc::clone(&self.open),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for Listener<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// What the job of a subscription and its handles share.
#[derive(Default)]
pub(super) struct OpenListen(Mutex<State>);

#[derive(Default)]
struct State {
    closed: bool,
    sources: Vec<Source>,
    /// The job, which polls the sources.
    job: Option<Waker>,
    /// Tasks that wait for the end.
    waiting: Vec<Waker>,
}

type Source = Pin<Box<dyn Future<Output = ()> + Send>>;

impl OpenListen {
    fn add(&self, source: Source) {
        let (job, late) = {
            let mut state = self.lock();
            if state.closed {
                (None, Some(source))
            } else {
                state.sources.push(source);
                (state.job.take(), None)
            }
        };
        // A future of the application is dropped outside the lock.
        discard(late);
        if let Some(job) = job {
            job.wake();
        }
    }

    /// Polls the sources; ready when the subscription has ended.
    pub(super) fn poll_sources(&self, cx: &mut task::Context<'_>) -> Poll<()> {
        let mut running = {
            let mut state = self.lock();
            if state.closed {
                return Poll::Ready(());
            }
            state.job = Some(cx.waker().clone());
            core::mem::take(&mut state.sources)
        };
        running.retain_mut(|source| source.as_mut().poll(cx).is_pending());
        let mut state = self.lock();
        if state.closed {
            drop(state);
            discard(running);
            return Poll::Ready(());
        }
        // What a source has added is behind those that run.
        let added = core::mem::replace(&mut state.sources, running);
        if !added.is_empty() {
            state.sources.extend(added);
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Ends it for its handles.
    pub(super) fn close(&self) {
        let State {
            sources,
            job,
            waiting,
            ..
        } = {
            let mut state = self.lock();
            let closed = State {
                closed: true,
                ..State::default()
            };
            core::mem::replace(&mut *state, closed)
        };
        discard(sources);
        waiting.into_iter().chain(job).for_each(Waker::wake);
    }

    fn poll_closed(&self, cx: &task::Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(());
        }
        register(&mut state.waiting, cx);
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
