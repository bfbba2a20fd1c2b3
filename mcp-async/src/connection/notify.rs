//! Something that happens again and again, and is waited for.

use std::sync::{Arc, Mutex, MutexGuard};

use super::signal::{Signal, Wait};
use crate::lock::lock;

/// Something that happens again and again, and is waited for.
#[derive(Default)]
pub(crate) struct Notify(Mutex<Arc<Signal>>);

/// Waits for the next time that it happens.
pub(crate) type Notified = Wait<Arc<Signal>>;

impl Notify {
    /// It happens now, for all that wait for it.
    pub(crate) fn notify_waiters(&self) {
        let next = core::mem::take(&mut *self.lock());
        next.set();
    }

    /// Waits for the next time that it happens from now on.
    pub(crate) fn notified(&self) -> Notified {
        self.lock().wait_shared()
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Signal>> {
        lock(&self.0)
    }
}
