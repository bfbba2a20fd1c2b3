//! A substitute for the error of authorization in builds without it.

/// Without the features `auth` and `http-client` no client needs an access token.
#[derive(Clone, Debug)]
pub enum AuthorizationError {}

impl core::fmt::Display for AuthorizationError {
    fn fmt(&self, _: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {}
    }
}

impl core::error::Error for AuthorizationError {}
