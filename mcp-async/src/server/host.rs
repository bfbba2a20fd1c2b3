//! The server and the runtime that the handlers of one connection use.

use core::any::Any;
use std::sync::Arc;

use super::runner::Runner;

/// The server and the pool for blocking work, as handlers are given them.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) server: Arc<dyn HostServer>,
    /// `None` where there is no runtime.
    pub(super) runner: Option<Runner>,
}

/// The server of a handler. Only its registry knows the type.
pub(super) trait HostServer: Any + Send + Sync {
    /// The state of handlers that are registered while the server runs.
    fn unit(&self) -> &Arc<()>;
}

impl Host {
    /// The state of handlers that are registered while the server runs.
    pub(super) fn unit(&self) -> &Arc<()> {
        self.server.unit()
    }
}
