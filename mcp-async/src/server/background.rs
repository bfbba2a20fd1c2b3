//! Work that continues apart from connections, and its end with the server.

use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

/// What an [extension](super::Extension::background) does apart from connections, such as the work on tasks,
/// and its end with the server.
///
/// A server ends when the last of [`serve_http`](crate::Server::serve_http), [`serve_stdio`](crate::Server::serve_stdio) and the
/// endpoints ends that serve it, or when its [registry](super::Registry::shutdown) shuts it down. The calls come in
/// this order: `attach`, `start`, `begin_shutdown`, `stop`; `resume` if the server is served again; `detach`.
///
/// ```
/// use core::sync::atomic::{AtomicBool, Ordering};
/// use core::task::{Context, Poll};
/// use core::time::Duration;
/// use std::sync::Arc;
///
/// use mcp_async::server::{Background, Extension};
///
/// /// Watches a folder until the server ends.
/// #[derive(Default)]
/// struct Watcher {
///     has_ended: AtomicBool,
/// }
///
/// impl Background for Watcher {
///     fn begin_shutdown(&self, _grace: Duration) {
///         self.stop();
///     }
///
///     fn stop(&self) {
///         self.has_ended.store(true, Ordering::Release);
///     }
///
///     fn poll_stopped(&self, _: &mut Context<'_>) -> Poll<()> {
///         Poll::Ready(())
///     }
/// }
///
/// let extension = Extension::<()>::new("com.example/folders").background(Arc::new(Watcher::default()));
/// # let _ = extension;
/// ```
pub trait Background: Send + Sync {
    /// A server is built that has this work; a cloned builder builds several.
    fn attach(&self) {}

    /// The server begins to be served. Called in a task of the runtime by
    /// [`serve_http`](crate::Server::serve_http) and [`serve_stdio`](crate::Server::serve_stdio) only.
    fn start(self: Arc<Self>) {}

    /// The server ends: what runs may continue for this time.
    fn begin_shutdown(&self, grace: Duration);

    /// That time has passed, or the server was dropped: what runs ends now.
    fn stop(&self);

    /// Ready when nothing runs; [`serve_http`](crate::Server::serve_http) and [`serve_stdio`](crate::Server::serve_stdio)
    /// return after that.
    fn poll_stopped(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// A server that has ended may be served again: work may begin.
    fn resume(&self) {}

    /// A server, and all of its connections, were dropped. [`attach`](Self::attach) counts them.
    fn detach(&self) {
        self.stop();
    }
}

/// Belongs to the handles of a server and to its connections, but not to the handlers. Dropping it
/// ends the work in the background.
pub(super) struct Lifetime(Vec<Arc<dyn Background>>);

impl Lifetime {
    pub(super) fn new(works: &[Arc<dyn Background>]) -> Arc<Self> {
        works.iter().for_each(|work| work.attach());
        Arc::new(Self(works.to_vec()))
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        self.0.iter().for_each(|work| work.detach());
    }
}
