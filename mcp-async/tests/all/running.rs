//! The number of things that run, such as handlers.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The count of what runs now.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Running {
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Counts one more until it is dropped.
    pub(crate) fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::SeqCst);
        Entered(self.clone())
    }
}

pub(crate) struct Entered(Running);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}
