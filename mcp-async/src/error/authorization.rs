//! The error of a client that has no access token.

use core::fmt;
use std::io;
use std::sync::Arc;

use mcp_auth::AuthError;

/// The reason why a client has no access token for its server.
///
/// Neither `Display` nor `Debug` shows a secret. It reaches the application as
/// [`CallError::Authorization`](crate::client::CallError::Authorization) or
/// [`ConnectError::Authorization`](crate::client::ConnectError::Authorization).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AuthorizationError {
    /// A party refused, or a document is wrong. The error says which, at which URL, and what to do.
    Flow(AuthError),
    /// The [`CredentialStore`](crate::auth::CredentialStore) failed. Tokens that could not be saved are
    /// kept in memory, and saving is tried again before the next request.
    Store(Arc<io::Error>),
    /// The [`UserAgent`](crate::auth::UserAgent) cannot receive a redirect.
    UserAgent(Arc<io::Error>),
    /// The assertion of the platform could not be read.
    Assertion(Arc<io::Error>),
    /// The server asks for consent again and again: within 10 minutes a user is asked at most 3 times
    /// for the same scopes without a success, and at most 10 times in all.
    TooManyConsents,
    /// Authorization did not end in time.
    Timeout,
    /// Authorization ended without a result, because the client was closed or its code panicked.
    Interrupted,
}

impl From<AuthError> for AuthorizationError {
    fn from(error: AuthError) -> Self {
        Self::Flow(error)
    }
}

impl fmt::Display for AuthorizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flow(_) => "authorization failed",
            Self::Store(_) => "the store of credentials failed",
            Self::UserAgent(_) => "the user cannot be sent to a page",
            Self::Assertion(_) => "the assertion of the platform cannot be read",
            Self::TooManyConsents => "the server asked for consent too often",
            Self::Timeout => "authorization did not end in time",
            Self::Interrupted => "authorization was interrupted",
        })
    }
}

impl core::error::Error for AuthorizationError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Flow(error) => Some(error),
            Self::Store(error) | Self::UserAgent(error) | Self::Assertion(error) => Some(&**error),
            Self::TooManyConsents | Self::Timeout | Self::Interrupted => None,
        }
    }
}
