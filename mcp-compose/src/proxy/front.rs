//! A server in front of the proxy.

use std::sync::{Arc, Weak};

use mcp_async::server::{Peer, Registry};

/// A server in front of the proxy, as the subscriptions see it.
pub(super) trait Front: Send + Sync {
    /// Tells those who watch a resource that it was updated: all, or the callers of one principal.
    fn updated(&self, uri: &str, principal: Option<&str>);

    /// Returns true if any of them watches it.
    fn is_watched(&self, uri: &str, principal: Option<&str>) -> bool;
}

impl<S: Send + Sync + 'static> Front for Registry<S> {
    fn updated(&self, uri: &str, principal: Option<&str>) {
        match principal {
            None => self.resource_updated(uri),
            Some(name) => self.for_principal(name).resource_updated(uri),
        }
    }

    fn is_watched(&self, uri: &str, principal: Option<&str>) -> bool {
        self.peers().iter().any(|peer| {
            let is_meant = principal
                .is_none_or(|name| peer.principal().is_some_and(|caller| caller.name() == name));
            is_meant && watches(peer, uri)
        })
    }
}

/// A server in front, behind what is gone with it.
pub(super) type ServedFront = (Weak<()>, Arc<dyn Front>);

/// Returns true if this caller is connected and watches the resource.
pub(super) fn watches(peer: &Peer, uri: &str) -> bool {
    !peer.is_closed() && peer.watched().iter().any(|watched| watched == uri)
}
