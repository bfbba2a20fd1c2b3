//! The scopes that an item needs.

#[cfg(all(feature = "auth", feature = "http-server"))]
use mcp_auth::resource::{InvalidScope, RequiredScopes};

/// The scopes that the token of a request needs for an item; none in builds without tokens.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct ItemScopes {
    #[cfg(all(feature = "auth", feature = "http-server"))]
    needed: RequiredScopes,
    /// One of the texts is not a scope.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    fault: Option<InvalidScope>,
}

impl ItemScopes {
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) fn new<T: AsRef<str>>(scopes: impl IntoIterator<Item = T>) -> Self {
        match RequiredScopes::new(scopes) {
            Ok(needed) => Self {
                needed,
                fault: None,
            },
            Err(fault) => Self {
                needed: RequiredScopes::NONE,
                fault: Some(fault),
            },
        }
    }

    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) const fn needed(&self) -> &RequiredScopes {
        &self.needed
    }

    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) fn is_empty(&self) -> bool {
        self.needed.scopes().is_empty()
    }

    #[cfg(not(all(feature = "auth", feature = "http-server")))]
    pub(in crate::server) const fn is_empty(&self) -> bool {
        true
    }

    /// Fails if one of the texts is not a scope.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) fn check(&self) -> Result<(), InvalidScope> {
        self.fault.map_or(Ok(()), Err)
    }

    #[cfg(not(all(feature = "auth", feature = "http-server")))]
    pub(in crate::server) const fn check(&self) -> Result<(), core::convert::Infallible> {
        Ok(())
    }
}
