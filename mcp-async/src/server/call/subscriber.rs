//! The client of an open subscription.

use core::fmt;
use core::future::{Future, poll_fn};
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::{Payload, Revision, SendError};

use super::context::CallContext;
use super::notify::notify;
use super::open_listen::OpenListen;
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;

/// The client of a subscription whose filter has keys of the application: who it is, and the way to
/// it. A clone is cheap, usable from any task, and no obstacle to the end of the subscription.
///
/// `S` is the state of the server.
pub struct Subscriber<S = ()> {
    context: CallContext,
    open: Arc<OpenListen>,
    state: Arc<S>,
}

impl<S> Subscriber<S> {
    pub(in crate::server) const fn new(
        context: CallContext,
        open: Arc<OpenListen>,
        state: Arc<S>,
    ) -> Self {
        Self {
            context,
            open,
            state,
        }
    }

    /// Gives a judge its state.
    pub(in crate::server) fn with_state<T>(self, state: &Arc<T>) -> Subscriber<T> {
        Subscriber::new(self.context, self.open, Arc::clone(state))
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
    /// subscription. `params` is written as an object.
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
        self.open.add(source);
    }

    /// Ends the subscription.
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
        self.open.is_closed()
    }
}

impl<S> Clone for Subscriber<S> {
    fn clone(&self) -> Self {
        Self {
            context: self.context.clone(),
            open: Arc::clone(&self.open),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for Subscriber<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
