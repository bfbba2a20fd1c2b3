//! A server in front of the proxy.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use mcp_async::server::{Peer, Registry};

/// A server in front of the proxy, as the subscriptions see it.
pub(super) trait Front: Send + Sync {
    /// Tells those who watch a resource that it was updated: all, or the callers of one principal.
    fn updated(&self, uri: &str, principal: Option<&str>);

    /// Returns true if any of them watches it.
    fn is_watched(&self, uri: &str, principal: Option<&str>) -> bool;

    /// Returns the fewest subscriptions that a caller who watches this resource has: the number of resources that it watches and that
    /// have a subscription. `None` if no caller watches it.
    fn smallest_share(&self, uri: &str, is_subscribed: &dyn Fn(&str) -> bool) -> Option<usize>;
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

    fn smallest_share(&self, uri: &str, is_subscribed: &dyn Fn(&str) -> bool) -> Option<usize> {
        let mut shares = Vec::new();
        // A principal has one share, however many connections it has.
        let mut principals: HashMap<Arc<str>, Vec<String>> = HashMap::new();
        for peer in self.peers() {
            let mut watched = peer.watched();
            match peer.principal() {
                Some(principal) => {
                    let all = principals.entry(principal.name().into()).or_default();
                    all.append(&mut watched);
                }
                None => shares.push(watched),
            }
        }
        shares.extend(principals.into_values().map(|mut all| {
            all.sort_unstable();
            all.dedup();
            all
        }));
        let of_watchers = shares
            .iter()
            .filter(|watched| watched.iter().any(|it| it == uri));
        let share = |watched: &Vec<String>| watched.iter().filter(|it| is_subscribed(it)).count();
        of_watchers.map(share).min()
    }
}

/// A server in front, behind what is gone with it.
pub(super) type ServedFront = (Weak<()>, Arc<dyn Front>);

/// Returns true if this caller is connected and watches the resource.
pub(super) fn watches(peer: &Peer, uri: &str) -> bool {
    !peer.is_closed() && peer.watched().iter().any(|watched| watched == uri)
}
