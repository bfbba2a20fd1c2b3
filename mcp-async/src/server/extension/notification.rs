//! Notifications that clients send for an extension.

use core::fmt;
use std::sync::Arc;

use mcp_proto::RevisionSet;
use mcp_proto::json::Object;
use serde::de::DeserializeOwned;

use super::names;
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;
use crate::server::items::method::decode;
use crate::server::items::register_error::RegisterError;

/// A notification whose handler has its state.
pub(in crate::server) struct Notification {
    pub(in crate::server) name: String,
    revisions: RevisionSet,
    handle: BoundHandle,
}

type BoundHandle = Box<dyn Fn(&Peer, Object<'_>) + Send + Sync>;

type Handle<S> = Box<dyn Fn(&Peer, Object<'_>, &Arc<S>) + Send + Sync>;

/// A notification of an extension before it is registered.
pub(in crate::server) struct ExtensionNotification<S> {
    name: String,
    handle: Handle<S>,
}

/// The sender of a notification, and the state of the server.
pub struct NotificationContext<S = ()> {
    peer: Peer,
    state: Arc<S>,
}

impl<S: Send + Sync + 'static> ExtensionNotification<S> {
    pub(super) fn new<A, F>(name: String, handler: F) -> Self
    where
        F: Fn(A, NotificationContext<S>) + Send + Sync + 'static,
        A: DeserializeOwned + 'static,
    {
        let handle = move |peer: &Peer, params: Object<'_>, state: &Arc<S>| {
            // A notification has no answer, so one that does not decode is dropped.
            if let Ok(params) = decode(params.as_raw(), "params") {
                handler(params, NotificationContext::new(peer, state));
            }
        };
        Self {
            name,
            handle: Box::new(handle),
        }
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(
        self,
        state: &Arc<S>,
        extension: &str,
        revisions: RevisionSet,
    ) -> Result<Notification, RegisterError> {
        names::check_method(Some(extension), &self.name)
            .map_err(|reason| RegisterError::new("notification", &self.name, &reason))?;
        let (handle, state) = (self.handle, Arc::clone(state));
        Ok(Notification {
            name: self.name,
            revisions,
            handle: Box::new(move |peer, params| handle(peer, params, &state)),
        })
    }
}

impl Notification {
    /// Hands it to its handler, unless its extension is off in the revision of the session.
    pub(in crate::server) fn handle(&self, peer: &Peer, params: Object<'_>) {
        let revision = peer.shared.lock().machine.revision();
        if revision.is_none_or(|revision| self.revisions.contains(revision)) {
            (self.handle)(peer, params);
        }
    }
}

impl<S> NotificationContext<S> {
    pub(in crate::server) fn new(peer: &Peer, state: &Arc<S>) -> Self {
        Self {
            peer: peer.clone(),
            state: Arc::clone(state),
        }
    }

    /// Returns the state of the server.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Returns the connection that the notification came from.
    pub const fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the value of this type that the session shares, as
    /// [`CallContext::session_state`](crate::server::CallContext::session_state) does.
    pub fn session_state<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let revision = self.peer.shared.lock().machine.revision();
        revision?.is_legacy().then(|| self.peer.session_state())?
    }

    /// Returns the verified sender.
    pub fn principal(&self) -> Option<Principal> {
        self.peer.principal()
    }
}

impl<S> fmt::Debug for NotificationContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.peer.fmt(f)
    }
}
