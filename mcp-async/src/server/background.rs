//! Work that continues apart from connections, and its end with the server.

use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use crate::runtime::RuntimeHandle;

/// The work of an [extension](super::Extension::background) apart from connections, such as the
/// work on tasks, and its end with the server.
///
/// A server ends when the last of the [transports](super::Transport) and the endpoints ends that serve it, or when its
/// [registry](super::Registry::shutdown) shuts it down. The calls come in
/// this order: `attach`, `serve_on`, `start`, `begin_shutdown`, `stop`; `resume` if the server is served again, or dropped;
/// `detach`. The servers of a cloned builder share the work; each has these calls of its own.
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
    /// A server is built that has this work.
    fn attach(&self) {}

    /// The server is served on this runtime: called before the first call of each connection and of each endpoint.
    fn serve_on(&self, _runtime: &RuntimeHandle) {}

    /// The server begins to be served. Called in a task of the runtime, and only by what serves until the server ends:
    /// the standard streams, and an endpoint on its own socket.
    fn start(self: Arc<Self>) {}

    /// The server ends: what runs may continue for this time. Called once, or once after each `resume`.
    fn begin_shutdown(&self, grace: Duration);

    /// That time has passed, or the server was dropped: what runs ends now.
    fn stop(&self);

    /// Returns the number of pieces of work that run now, which operators see as
    /// `HttpStatus::tasks`.
    fn running(&self) -> usize {
        0
    }

    /// Returns how many calls found no place for work of their own and ran in their exchange, which operators see as
    /// `HttpStatus::kept_in_exchange`.
    fn kept_in_exchange(&self) -> u64 {
        0
    }

    /// Ready when nothing runs; what serves the server returns after that.
    fn poll_stopped(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// A server that has ended may be served again, so that work may begin, or it is dropped.
    fn resume(&self) {}

    /// A server, and all of its connections, were dropped.
    fn detach(&self) {
        self.stop();
    }
}

/// Belongs to the handles of a server and to its connections, but not to the handlers. Dropping it
/// ends the work in the background.
pub(in crate::server) struct Lifetime(Arc<Works>);

impl Lifetime {
    pub(in crate::server) fn new(works: &Arc<Works>) -> Arc<Self> {
        works.all.iter().for_each(|work| work.attach());
        Arc::new(Self(Arc::clone(works)))
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        self.0.resume();
        self.0.all.iter().for_each(|work| work.detach());
    }
}

/// The work of the extensions of one server apart from connections.
pub(in crate::server) struct Works {
    pub(in crate::server) all: Vec<Arc<dyn Background>>,
    /// The server has ended.
    have_ended: AtomicBool,
}

impl Works {
    pub(in crate::server) fn new(all: &[Arc<dyn Background>]) -> Arc<Self> {
        Arc::new(Self {
            all: all.to_vec(),
            have_ended: AtomicBool::new(false),
        })
    }

    /// The server is served on this runtime.
    pub(in crate::server) fn serve_on(&self, runtime: &RuntimeHandle) {
        self.all.iter().for_each(|work| work.serve_on(runtime));
    }

    /// The server ends: they may continue for this time.
    pub(in crate::server) fn begin_shutdown(&self, grace: Duration) {
        if !self.have_ended.swap(true, Ordering::AcqRel) {
            self.all.iter().for_each(|work| work.begin_shutdown(grace));
        }
    }

    /// The server is served again.
    pub(in crate::server) fn resume(&self) {
        if self.have_ended.swap(false, Ordering::AcqRel) {
            self.all.iter().for_each(|work| work.resume());
        }
    }
}
