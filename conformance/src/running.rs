//! The handlers of a server that run.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::runtime::RuntimeHandle;

use crate::runtime::sleep;

/// The number of handlers that take their time and run, and their runtime.
#[derive(Clone)]
pub(crate) struct Running {
    runtime: RuntimeHandle,
    count: Arc<AtomicUsize>,
}

impl Running {
    pub(crate) fn new(runtime: RuntimeHandle) -> Self {
        let count = Arc::default();
        Self { runtime, count }
    }

    pub(crate) fn enter(&self) -> Entered {
        self.count.fetch_add(1, Ordering::Relaxed);
        Entered(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// One of them; it is counted until it ends, is cancelled or panics.
pub(crate) struct Entered(Running);

impl Entered {
    pub(crate) async fn sleep(&self, ms: u64) {
        sleep(&self.0.runtime, Duration::from_millis(ms)).await;
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}
