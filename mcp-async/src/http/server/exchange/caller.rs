//! The sender of a request, as the extensions of its head hold it.

use std::sync::Arc;

use http::request::Parts;

use super::trusted_proxies::TrustedProxies;
#[cfg(feature = "auth")]
use crate::http::server::processes::VerifiedToken;
use crate::net::{RemoteAddr, client_network};
use crate::server::Principal;
use crate::shares::CallerId;

/// The verified sender of the request.
pub(in crate::http::server) fn principal(parts: &Parts) -> Option<Principal> {
    parts.extensions.get().cloned()
}

/// The name of the verified sender, which owns what the request begins.
pub(in crate::http::server) fn owner(parts: &Parts) -> Option<Arc<str>> {
    parts.extensions.get().map(Principal::shared_name)
}

/// The sender that another process has verified.
fn verified(parts: &Parts) -> Option<Arc<str>> {
    #[cfg(feature = "auth")]
    if let Some(VerifiedToken(Some(admission))) = parts.extensions.get() {
        return Some(Principal::new(admission.claims.identity()).shared_name());
    }
    #[cfg(not(feature = "auth"))]
    let _ = parts;
    None
}

impl CallerId {
    /// The verified sender of the request, or else its address; `None` if neither is known.
    pub(in crate::http::server) fn of(parts: &Parts, proxies: &TrustedProxies) -> Option<Self> {
        match owner(parts).or_else(|| verified(parts)) {
            Some(name) => Some(Self::Principal(name)),
            None => Self::address(parts, proxies),
        }
    }

    /// The address of the client, also if its principal is known.
    pub(in crate::http::server) fn address(
        parts: &Parts,
        proxies: &TrustedProxies,
    ) -> Option<Self> {
        let RemoteAddr(peer) = parts.extensions.get()?;
        let client = proxies.client(peer.ip(), &parts.headers);
        Some(Self::Address(client_network(client)))
    }
}
