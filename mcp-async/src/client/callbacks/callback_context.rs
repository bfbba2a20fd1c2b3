//! The context that a callback receives in addition to the question.

use core::fmt;
use std::sync::Arc;

/// The context of a callback: the state that [`ClientBuilder::with_state`] sets, which all
/// callbacks of a client share.
///
/// ```
/// use mcp_async::client::{CallbackContext, CallbackError};
/// use mcp_async::model::{ElicitParams, ElicitResult};
///
/// struct Desk {
///     may_ask: bool,
/// }
///
/// async fn ask(
///     asked: ElicitParams,
///     cx: CallbackContext<Desk>,
/// ) -> Result<ElicitResult, CallbackError> {
///     if !cx.state().may_ask {
///         return Ok(ElicitResult::cancel());
///     }
///     println!("{}", asked.message().unwrap_or_default());
///     Ok(ElicitResult::decline())
/// }
/// # let _ = ask;
/// ```
///
/// [`ClientBuilder::with_state`]: crate::client::ClientBuilder::with_state
pub struct CallbackContext<S = ()>(Arc<S>);

impl<S> CallbackContext<S> {
    pub(in crate::client) fn new(state: &Arc<S>) -> Self {
        Self(Arc::clone(state))
    }

    /// Returns the state of the client.
    pub fn state(&self) -> &S {
        &self.0
    }
}

impl<S> Clone for CallbackContext<S> {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl<S> fmt::Debug for CallbackContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackContext")
    }
}
