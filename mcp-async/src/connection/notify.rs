//! Something that happens again and again, and is waited for.

use std::sync::Arc;

use super::signal::{Signal, Wait};
use crate::sync::Lock;

/// Something that happens again and again, and is waited for.
#[derive(Default)]
pub(crate) struct Notify(Lock<Arc<Signal>>);

/// Waits for the next time that it happens.
pub(crate) type Notified = Wait<Arc<Signal>>;

impl Notify {
    /// It happens now, for all that wait for it.
    pub(crate) fn notify_waiters(&self) {
        let next = core::mem::take(&mut *self.0.lock());
        next.set();
    }

    /// Waits for the next time that it happens from now on.
    pub(crate) fn notified(&self) -> Notified {
        self.0.lock().wait_shared()
    }
}
