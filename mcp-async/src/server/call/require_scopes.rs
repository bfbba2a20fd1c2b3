//! Scopes that a handler requires.

use std::sync::Arc;

use mcp_auth::resource::RequiredScopes;

use super::context::CallContext;
use super::handler_error::HandlerError;
use crate::server::caller::access::{Access, MissingScopes};

impl CallContext {
    /// Fails unless the token of the request has these scopes, in addition to those that every
    /// token needs: for handlers that learn only from their arguments what they need. The scopes
    /// that an item always needs are stated by its `scopes`, for instance
    /// [`Tool::scopes`](crate::server::Tool::scopes), and are checked before the handler runs.
    ///
    /// On standard streams there are no tokens, and nothing is needed. Over HTTP it fails at an
    /// endpoint without [`Http::protect`](crate::http::Http::protect).
    ///
    /// ```
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// async fn write(folder: String, cx: Context) -> Result<(), HandlerError> {
    ///     if folder == "shared" {
    ///         cx.require_scopes(["files:share"])?;
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = write;
    /// ```
    ///
    /// # Errors
    /// [`MissingScopes`], or an error that the client does not see if one of the texts is not a
    /// scope.
    pub fn require_scopes<T: AsRef<str>>(
        &self,
        scopes: impl IntoIterator<Item = T>,
    ) -> Result<(), HandlerError> {
        let needed = RequiredScopes::new(scopes)?;
        Ok(self.require(&needed)?)
    }

    pub(in crate::server) fn require(&self, needed: &RequiredScopes) -> Result<(), MissingScopes> {
        if needed.scopes().is_empty() || self.http().is_none() {
            return Ok(());
        }
        let head = self.http();
        let access = head.and_then(|head| head.extensions.get::<Arc<Access>>());
        MissingScopes::check(access, needed)
    }
}
