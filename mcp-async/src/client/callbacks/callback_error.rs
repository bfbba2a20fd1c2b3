//! The error of a callback.

use core::error::Error;
use core::fmt;

use crate::error::ErrorReply;
use crate::observe;

/// The reason for which a callback has no answer.
///
/// `?` converts every error into one: whatever implements [`Error`], and also `anyhow::Error`,
/// `Box<dyn Error + Send + Sync>` and plain text. The server then receives error -32603 with a
/// fixed text, and nothing of the error or its sources; the text is written to the client's own
/// log only (feature `tracing`). An [`ErrorReply`] is sent as it is.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::client::CallbackError;
///
/// fn approved(line: &str) -> Result<bool, CallbackError> {
///     if line == "never" {
///         Err(ErrorReply::new(-1, "User rejected sampling request"))?;
///     }
///     Ok(line.parse()?)
/// }
///
/// assert!(approved("true").is_ok_and(|approved| approved));
/// assert!(approved("never").is_err(), "the server reads why");
/// assert!(approved("?").is_err(), "the server learns only that there was an error");
/// ```
pub struct CallbackError(Box<dyn Error + Send + Sync>);

impl CallbackError {
    /// Returns the error that the server receives, and logs what is hidden from it.
    pub(in crate::client) fn into_reply(self) -> ErrorReply {
        match self.0.downcast::<ErrorReply>() {
            Ok(reply) => *reply,
            Err(error) => {
                observe::callback_failed(&*error);
                ErrorReply::internal()
            }
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for CallbackError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
