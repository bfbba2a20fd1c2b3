//! The scopes that an item needs.

#[cfg(not(all(feature = "auth", feature = "http-server")))]
use core::convert::{Infallible as InvalidScope, Infallible as RequiredScopes};

#[cfg(all(feature = "auth", feature = "http-server"))]
use mcp_auth::resource::{InvalidScope, RequiredScopes};

/// The scopes that the token of a request needs for an item, or an error if one of the texts is not a scope. `None` if no scope is
/// needed, as always in builds without tokens.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct ItemScopes(Option<Result<RequiredScopes, InvalidScope>>);

impl ItemScopes {
    pub(in crate::server) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Fails if one of the texts is not a scope.
    pub(in crate::server) fn check(&self) -> Result<(), InvalidScope> {
        match &self.0 {
            Some(Err(fault)) => Err(*fault),
            _ => Ok(()),
        }
    }
}

#[cfg(all(feature = "auth", feature = "http-server"))]
impl ItemScopes {
    pub(in crate::server) fn new<T: AsRef<str>>(scopes: impl IntoIterator<Item = T>) -> Self {
        match RequiredScopes::new(scopes) {
            Ok(needed) if needed.scopes().is_empty() => Self(None),
            needed => Self(Some(needed)),
        }
    }

    pub(in crate::server) fn needed(&self) -> RequiredScopes {
        match &self.0 {
            Some(Ok(needed)) => needed.clone(),
            _ => RequiredScopes::NONE,
        }
    }
}
