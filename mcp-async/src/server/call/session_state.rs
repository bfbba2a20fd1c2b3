//! What the calls of one session share.

use std::sync::Arc;

use super::context::CallContext;

impl CallContext {
    /// Returns the value of this type that all calls of the session share; it is made when it is first asked for, and dropped when
    /// the session ends. `None` in 2026-07-28, which has no sessions.
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
    ///     let Some(calls) = cx.session::<Calls>() else {
    ///         return Ok("there is no session".to_owned());
    ///     };
    ///     Ok(format!("call {} of this session", calls.0.fetch_add(1, Ordering::Relaxed) + 1))
    /// }
    ///
    /// let server = Server::builder("demo", "1.0").tool("count", "Counts", count);
    /// # let _ = server;
    /// ```
    pub fn session<T: Default + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let peer = self.revision().is_legacy().then(|| self.peer())?;
        Some(peer.shared.about.session())
    }

    /// Returns the id of the session that the request arrived in. `None` without HTTP, in 2024-11-05 and in 2026-07-28.
    #[cfg(feature = "http-server")]
    pub fn session_id(&self) -> Option<&str> {
        let head = self.http().filter(|_| self.revision().is_legacy())?;
        head.headers.get("mcp-session-id")?.to_str().ok()
    }
}
