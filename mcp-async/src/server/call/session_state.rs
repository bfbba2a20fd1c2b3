//! Values that the calls of one session share, and the id of the session.

use std::sync::Arc;

use super::context::CallContext;
use crate::server::caller::peer::Peer;

impl CallContext {
    /// Returns the value of this type that all calls of the session share. It is made when it is first asked for, twice if two calls
    /// ask at once, of which one is kept; it is dropped when the session ends. `None` where there is no session: in 2026-07-28,
    /// over HTTP without [sessions](crate::http::Http::stateless), and after its end.
    ///
    /// A process that takes a session over from another one begins with a new value.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use mcp_async::Server;
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// #[derive(Default)]
    /// struct Calls(AtomicU32);
    ///
    /// async fn count((): (), cx: Context) -> Result<String, HandlerError> {
    ///     let Some(calls) = cx.session_state::<Calls>() else {
    ///         return Ok("there is no session".to_owned());
    ///     };
    ///     Ok(format!("call {} of this session", calls.0.fetch_add(1, Ordering::Relaxed) + 1))
    /// }
    ///
    /// let server = Server::builder("demo", "1.0").tool("count", "Counts", count);
    /// # let _ = server;
    /// ```
    pub fn session_state<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.revision()
            .is_legacy()
            .then(|| self.peer().session_state())?
    }

    /// Returns the id of the session over HTTP that the call belongs to, as the server made it; `None` elsewhere.
    pub fn session_id(&self) -> Option<Arc<str>> {
        self.peer().shared.peer_info.session_id.get().cloned()
    }
}

impl Peer {
    /// As [`CallContext::session_state`]; the caller knows that the revision has sessions.
    pub(in crate::server) fn session_state<T: Default + Send + Sync + 'static>(
        &self,
    ) -> Option<Arc<T>> {
        let is_pipe = {
            let core = self.shared.lock();
            if core.ended {
                return None;
            }
            core.outbound.is_none()
        };
        let is_session = is_pipe || self.shared.peer_info.session_id.get().is_some();
        is_session.then(|| self.shared.peer_info.session_state())
    }
}
