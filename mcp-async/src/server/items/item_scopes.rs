//! The scopes that an item needs.

use mcp_auth::resource::{InvalidScope, RequiredScopes};

/// The scopes that the token of a request needs for an item.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct ItemScopes {
    needed: RequiredScopes,
    /// One of the texts is not a scope.
    fault: Option<InvalidScope>,
}

impl ItemScopes {
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

    pub(in crate::server) const fn needed(&self) -> &RequiredScopes {
        &self.needed
    }

    pub(in crate::server) fn is_empty(&self) -> bool {
        self.needed.scopes().is_empty()
    }

    /// Fails if one of the texts is not a scope.
    pub(in crate::server) fn check(&self) -> Result<(), InvalidScope> {
        self.fault.map_or(Ok(()), Err)
    }
}
