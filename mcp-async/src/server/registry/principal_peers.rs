//! The clients of one principal.

use core::fmt;
use std::sync::{Arc, Weak};

use mcp_proto::server::ListKind;

use super::inner::Inner;
use crate::server::Peer;

/// The clients that are connected as one principal: what
/// [`Registry::for_principal`](crate::server::Registry::for_principal) returns. Changes that concern a single user are reported here, so
/// that no other user learns of them.
///
/// ```
/// use mcp_async::server::{Context, HandlerError, Principal};
///
/// async fn save(text: String, cx: Context) -> Result<(), HandlerError> {
///     let user = cx.principal().map(Principal::name).ok_or("a server without users")?;
///     std::fs::write(format!("{user}.txt"), text)?;
///     cx.registry().for_principal(user).resource_updated("note:///mine");
///     Ok(())
/// }
/// # let _ = save;
/// ```
#[derive(Clone)]
pub struct PrincipalPeers {
    inner: Weak<Inner>,
    name: Arc<str>,
}

impl PrincipalPeers {
    pub(in crate::server) const fn new(inner: Weak<Inner>, name: Arc<str>) -> Self {
        Self { inner, name }
    }

    /// Notifies those clients of the principal that have subscribed to the resource.
    pub fn resource_updated(&self, uri: &str) {
        if let Some(inner) = self.inner.upgrade() {
            inner.resource_updated(uri, Some(&self.name));
        }
    }

    /// Notifies the clients of the principal that their list has changed: after the principal was
    /// permitted to see more of it, for example.
    pub fn list_changed(&self, kind: ListKind) {
        if let Some(inner) = self.inner.upgrade() {
            inner.list_changed(kind, Some(&self.name));
        }
    }

    /// Returns the clients of the principal.
    pub fn peers(&self) -> Vec<Peer> {
        let inner = self.inner.upgrade();
        let mut peers = inner.map(|inner| inner.peers()).unwrap_or_default();
        peers.retain(|peer| peer.is_of(&self.name));
        peers
    }
}

impl fmt::Debug for PrincipalPeers {
    /// Without the name, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrincipalPeers").finish_non_exhaustive()
    }
}
